import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@testable import CipherBackup

/// The vectors of the format, which a program in Python wrote that shares no code with the library.
@Suite struct BackupVectorTests {
    struct Vector: CustomStringConvertible {
        let name: String
        let headers: [String: String]
        let objects: [String: [UInt8]]
        var description: String { name }

        init(_ url: URL) throws {
            name = url.deletingPathExtension().lastPathComponent
            let parts = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n\n")
            headers = Dictionary(
                uniqueKeysWithValues: parts[0].split(separator: "\n").map { line in
                    let end = line.firstRange(of: ": ")!
                    return (String(line[..<end.lowerBound]), String(line[end.upperBound...]))
                }
            )
            objects = try Dictionary(
                uniqueKeysWithValues: parts.dropFirst().map { part in
                    let lines = part.split(separator: "\n")
                    let digits = Array(lines.dropFirst().joined())
                    let bytes = try stride(from: 0, to: digits.count, by: 2).map {
                        try #require(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
                    }
                    return (String(lines[0]), bytes)
                }
            )
        }
    }

    static let place = Program.packageDirectory + "/Tests/RekeyingTests/Vectors/Backup"

    static let vectors: [Vector] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return names.sorted().compactMap { try? Vector(URL(fileURLWithPath: "\(place)/\($0)")) }
    }()

    @Test func backupVectorsArePresent() {
        #expect(Self.vectors.count == 20)
    }

    /// The bytes that were restored.
    private final class Sink: PageSink {
        private let content = Lock<[UInt8]>([])
        var bytes: [UInt8] { content.withLock { $0 } }

        func write(_ new: UnsafeRawBufferPointer, at offset: Int64) throws {
            let new = Array(new)
            content.withLock { bytes in
                let end = Int(offset) + new.count
                if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
                bytes.replaceSubrange(Int(offset)..<end, with: new)
            }
        }
    }

    /// Writes the objects of a vector to a directory.
    private func repository(_ vector: Vector, _ directory: TemporaryDirectory) throws -> BackupRepository {
        for (name, bytes) in vector.objects {
            let url = URL(fileURLWithPath: directory.file("repository/" + name))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(bytes).write(to: url)
        }
        return BackupRepository(directory.file("repository"))
    }

    @Test(arguments: vectors)
    func eachBackupVectorMatches(vector: Vector) throws {
        let directory = try TemporaryDirectory()
        let repository = try repository(vector, directory)
        let pageKey = try DatabaseKey.raw(hex: #require(vector.headers["page key"]))
        let number = try #require(vector.headers["generation"].flatMap { UInt64($0) })
        do {
            let key = try pageKey.derive(salt: [UInt8](repeating: 0, count: 16), format: .v4)
            let run = try RestoreRun(repository, .number(number), atLeast: nil)
            try run.authenticate(key, others: [])
            let sink = Sink()
            try run.run(into: sink) { _, _ in }
            #expect(vector.headers["expect"] == "restores")
            #expect(vector.headers["size"] == "\(sink.bytes.count)")
            #expect(try vector.headers["SHA-256"] == Cryptography.SHA256().digest(of: sink.bytes).bytes.hexadecimal)
            #expect(try repository.check().problems == [])
            try checkWriting(repository, key)
            let keyring = try repository.storedKeyrings(repository.identifier()).next()
            #expect(
                try vector.headers["keyring"]
                    == keyring.map { try Cryptography.SHA256().digest(of: $0.keyring).bytes.hexadecimal }
            )
        } catch let error as BackupError {
            #expect(vector.headers["expect"] == error.code.rawValue)
        }
    }

    /// What is read is written as it was.
    private func checkWriting(_ repository: BackupRepository, _ key: DerivedKey) throws {
        let marker = try repository.marker()
        #expect(try marker.file() == repository.storage.bytes("repository", most: 1 << 20))
        let backupKey = try BackupKey(key, repository: marker.identifier)
        for stored in try repository.manifests() {
            #expect(try stored.manifest.file(backupKey) == stored.file)
            for segment in stored.manifest.segments {
                let header = SegmentHeader.bytes(marker.identifier, segment.identifier)
                #expect(try repository.storage.bytes(segment.identifier.name, most: 1 << 20).starts(with: header))
            }
        }
        for stored in try repository.storedKeyrings(marker.identifier) {
            let written = try StoredKeyring(
                stored.keyring,
                stored.identifiers,
                number: stored.number,
                repository: marker.identifier
            )
            #expect(written.file == stored.file && written.name == stored.name)
        }
        for name in try repository.storage.names(in: "prunes") {
            let record = try repository.pruneRecord(name, marker.identifier)
            #expect(try record.file() == repository.storage.bytes("prunes/" + name, most: 1 << 20))
        }
    }

    @Test func documentHasVector() throws {
        let document = try String(
            contentsOfFile: Program.packageDirectory + "/Documentation/Backup.md",
            encoding: .utf8
        )
        let text = document.filter { !$0.isWhitespace }
        let vector = try #require(Self.vectors.first { $0.name == "one-block" })
        for name in ["page key", "segment header", "root", "key identifier", "MAC", "SHA-256"] {
            #expect(try text.contains(#require(vector.headers[name])), "\(name)")
        }
        for (name, bytes) in vector.objects { #expect(text.contains(bytes.hexadecimal), "\(name)") }
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: StockShell.python),
            "Python is missing: run make engines"
        )
    )
    func pythonReaderAgreesOnVectors() throws {
        let checked = try Program.run(
            StockShell.python,
            [Program.packageDirectory + "/Tests/Readers/backup.py", "--check", Self.place]
        )
        #expect(checked.status == 0 && checked.output == "20 vectors, 0 wrong\n", "\(checked.output)\(checked.errors)")
        let directory = try TemporaryDirectory()
        let made = try Program.run(
            StockShell.python,
            [Program.packageDirectory + "/Tests/Readers/backup-vectors.py", directory.path]
        )
        #expect(made.status == 0, "\(made.errors)")
        for vector in Self.vectors {
            let name = vector.name + ".txt"
            let written = try String(contentsOfFile: directory.file(name), encoding: .utf8)
            #expect(try written == String(contentsOfFile: "\(Self.place)/\(name)", encoding: .utf8), "\(name)")
        }
    }
}
