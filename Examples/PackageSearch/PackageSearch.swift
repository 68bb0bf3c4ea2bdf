import CipherDB
import Foundation
import Rekeying

/// Puts Debian's package database into an encrypted one, searches it, and tries what a thief and an owner would.
///
///     PackageSearch [STATUS-FILE [DATABASE]]
@main
struct PackageSearch {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let source = arguments.first ?? ControlFile.preferredPath
        let directory = try DemoDirectory()
        let path = arguments.dropFirst().first ?? directory.path + "/packages.db"
        do {
            try PackageSearch(source: source, path: path).run()
        } catch {
            directory.remove()
            FileHandle.standardError.write(Data("PackageSearch: \(error)\n".utf8))
            exit(1)
        }
        directory.remove()
    }

    let source: String
    let path: String
    private let clock = ContinuousClock()

    func run() throws {
        title("The engine")
        print(Engine.current)

        title("An encrypted database, through a DatabaseQueue")
        let old = try DatabaseKey.passphrase("correct horse battery staple")
        let configuration = Configuration { $0.journalMode = .wal }
        let (queue, first) = try timed { try DatabaseQueue(path: path, key: old, configuration: configuration) }
        print("opened with a passphrase in \(milliseconds(first)), most of it the derivation of the key")
        let packages = try ControlFile.read(source)
        let (_, loading) = try timed { try queue.inTransaction { try PackageTable.load(packages, into: $0) } }
        print("\(packages.count) packages of \(source) stored in \(milliseconds(loading))")
        let later = try (1...9).map { _ in try timed { try queue.openConnection() }.1 }.sorted()[4]
        print(
            "later connections, from the stored key: \(milliseconds(later)), \(percent(later, of: first)) of the first"
        )

        title("Search")
        for word in ["library", "editor"] { try search(word, in: queue) }

        title("What a thief with the file sees")
        try queue.inDatabase { try $0.executeUpdate("PRAGMA wal_checkpoint(TRUNCATE)") }
        try inspectWithPlainTools(knownText: packages[0].name)

        title("A wrong key")
        try showRefused(DatabaseKey.passphrase("correct horse battery stable"))

        title("A new key")
        let new = try DatabaseKey.passphrase("a quite different passphrase")
        let (_, rekeying) = try timed { try queue.rekey(new) }
        print("every page re-encrypted and the result proved in \(milliseconds(rekeying)); the old key now:")
        try showRefused(old)
        try search("editor", in: queue)
        try queue.close()

        title("Every page, verified")
        let (found, verifying) = try timed { try DatabaseFile(path: path).verify(key: new) }
        print(
            "\(found.pages) pages of \(found.format), \(found.damagedPages.count) damaged, \(found.problems.count) problems, "
                + "in \(milliseconds(verifying))"
        )
        guard found.isSound else { throw DemoFailure("the database is not sound") }
    }

    private func search(_ word: String, in queue: DatabaseQueue) throws {
        let found = try queue.inDatabase { try PackageTable.search(word, in: $0) }
        print("\"\(word)\": \(found.count) packages")
        for package in found.prefix(3) { print("  \(package.name) \(package.version): \(package.summary)") }
    }

    private func showRefused(_ key: DatabaseKey) throws {
        do {
            _ = try DatabaseQueue(path: path, key: key)
        } catch let error as KeyError where error.code == .wrongKey {
            print("KeyError.\(error.code): \(error)")
            return
        }
        throw DemoFailure("a key that must not open the database opened it")
    }

    private func inspectWithPlainTools(knownText: String) throws {
        let header = try shell("od -A d -t x1z -N 32 \"$0\"", path)
        print("$ od -A d -t x1z -N 32 packages.db\n\(header)")
        let size = try shell("wc -c < \"$0\"", path)
        let packed = try shell("gzip -9 < \"$0\" | wc -c", path)
        print("$ wc -c < packages.db              # bytes\n\(size)")
        print("$ gzip -9 < packages.db | wc -c    # no pattern that could be packed\n\(packed)")
        let hits = try shell("grep -c -a -e \"$1\" -e 'CREATE TABLE' -e 'SQLite format' \"$0\"", path, knownText)
        print("$ grep -c -a -e \(knownText) -e 'CREATE TABLE' -e 'SQLite format' packages.db\n\(hits)")
        guard hits == "0", let size = Int(size), let packed = Int(packed), packed > size else {
            throw DemoFailure("the file shows something of its content")
        }
    }

    private func shell(_ command: String, _ arguments: String...) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command] + arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func title(_ text: String) { print("\n== \(text)") }

    private func timed<Result>(_ body: () throws -> Result) rethrows -> (Result, Duration) {
        let start = clock.now
        let result = try body()
        return (result, clock.now - start)
    }

    private func milliseconds(_ duration: Duration) -> String {
        String(format: "%.1f ms", duration / .milliseconds(1))
    }

    private func percent(_ part: Duration, of whole: Duration) -> String {
        String(format: "%.2f %%", part / whole * 100)
    }
}

struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A directory for the demo's database, removed at its end.
struct DemoDirectory {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("cipherdb-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        path = url.path
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
