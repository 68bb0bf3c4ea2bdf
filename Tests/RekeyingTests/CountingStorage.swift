import CipherSystem
import SQLiteFormat

@testable import CipherBackup

/// A repository in a directory that counts what is read of it, and notes what is added.
final class CountingStorage: BackupStorage {
    private let base: DirectoryStorage
    private let log = Lock(Log())

    /// What was opened, and which bytes were read.
    struct Log {
        var opened: [String: Int] = [:]
        var read: [String: [Range<Int>]] = [:]
        var added: [String] = []
    }

    init(_ path: String) {
        base = DirectoryStorage(path: path)
    }

    var description: String { base.description }
    /// The names of the objects, in order.
    var added: [String] { log.withLock { $0.added } }
    var opened: [String: Int] { log.withLock { $0.opened } }

    /// How often each byte of an object was read.
    func timesRead(_ name: String, size: Int) -> [Int] {
        var times = [Int](repeating: 0, count: size)
        for range in log.withLock({ $0.read[name] ?? [] }) {
            for byte in range { times[byte] += 1 }
        }
        return times
    }

    func open(_ name: String, from offset: UInt64, most: UInt64) throws -> any PageSource {
        log.withLock { $0.opened[name, default: 0] += 1 }
        return Source(base: try base.open(name, from: offset, most: most)) { [log] range in
            log.withLock { $0.read[name, default: []].append(range) }
        }
    }

    private struct Source: PageSource {
        let base: any PageSource
        let note: (Range<Int>) -> Void

        func size() throws -> Int64 { try base.size() }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let count = try base.read(into: buffer, at: offset)
            note(Int(offset)..<(Int(offset) + count))
            return count
        }
    }

    func prepare() throws { try base.prepare() }
    func names(in directory: String) throws -> [String] { try base.names(in: directory) }
    func sizes(in directory: String) throws -> [String: Int64] { try base.sizes(in: directory) }
    func settledNames(in directory: String) throws -> [String] { try base.settledNames(in: directory) }
    func newObject(_ name: String) throws -> NewObject { try base.newObject(name) }
    func add(_ object: NewObject) throws {
        log.withLock { $0.added.append(object.name) }
        try base.add(object)
    }
    func remove(_ name: String) throws { try base.remove(name) }
    func locked<Result>(exclusively: Bool, _ body: () throws -> Result) throws -> Result {
        try base.locked(exclusively: exclusively, body)
    }
}
