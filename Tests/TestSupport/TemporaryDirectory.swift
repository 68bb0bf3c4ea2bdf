import CipherKeys
import CipherSystem
package import Foundation

/// A directory of a test's own, removed with everything in it when the test lets go of it.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init(in parent: String = FileManager.default.temporaryDirectory.path) throws {
        let url = URL(fileURLWithPath: parent).appendingPathComponent("cipherdb-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path
    }

    deinit {
        // FileManager removes no file whose name is not UTF-8.
        for name in (try? FileCalls.names(beside: file(""))) ?? [] where name.withoutPathBytes != name {
            try? Platform.remove(file(name))
        }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in this directory.
    package func file(_ name: String) -> String { path + "/" + name }

    /// A directory of another file system, to which no file of this one can be renamed; nil where there is none.
    package var directoryElsewhere: String? {
        let device = { try? FileManager.default.attributesOfFileSystem(forPath: $0)[.systemNumber] as? Int }
        return ["/dev/shm", "/tmp", "/var/tmp", "/dev", "/proc"].first {
            device($0) != nil && device($0) != device(path)
        }
    }

    /// The names in this directory, sorted.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Writes a file that only its owner can read.
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws -> String {
        // Not by Data, whose writing waits for the disk.
        let stream = fopen(file(name), "w")
        guard let stream else { throw CocoaError(.fileWriteUnknown) }
        defer { fclose(stream) }
        fchmod(fileno(stream), mode_t(mode))
        let bytes = Array(bytes)
        guard fwrite(bytes, 1, bytes.count, stream) == bytes.count else { throw CocoaError(.fileWriteUnknown) }
        return file(name)
    }
}

/// The bytes and the time of the last change of a file: equal before and after means untouched.
package struct FileState: Equatable {
    package let bytes: Data
    package let changed: Date

    package init(_ path: String) throws {
        bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        changed = attributes[.modificationDate] as? Date ?? .distantPast
    }
}

/// Changes one byte of a file.
package func flipByte(of path: String, at offset: Int) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(offset))
    let byte = try file.read(upToCount: 1)?.first ?? 0
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte ^ 1]))
    try file.close()
}

/// The text of a file of /proc, which has no size and must be read to its end.
package func processInformation(_ name: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/\(name)"))
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
}
