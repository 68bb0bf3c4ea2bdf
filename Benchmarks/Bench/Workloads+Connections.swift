import CipherDB
import Dispatch
import Foundation
import RawC

/// Runs `body` on so many threads at once, and returns the sum of what they return.
private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Int64) -> Int64 {
    nonisolated(unsafe) let sums = UnsafeMutablePointer<Int64>.allocate(capacity: count)
    defer { sums.deallocate() }
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread {
            // Each thread has a place of its own, read when all have ended.
            do { sums[number] = try body(number) } catch { fatalError("\(error)") }
            group.leave()
        }.start()
    }
    group.wait()
    return (0..<count).reduce(0) { $0 + sums[$1] }
}

/// Handles of C, which each are one thread's.
private struct Handles: @unchecked Sendable {
    let all: [OpaquePointer]
}

extension Workload {
    /// Threads that read a share of the work each, in blocks of a hundred queries: through connections of their own in C, and
    /// through one pool and one queue.
    static func throughput(_ files: BenchmarkFiles, readers: Int, blocks: Int) throws -> Workload {
        let file = files.filled("throughput-\(readers).db")
        // Larger than the cache: pages are decrypted all the time, as with data that is worth a pool.
        let settings = "\(BenchmarkFiles.smallCache); PRAGMA journal_mode = wal"
        let handles = Handles(all: (0..<readers).map { _ in files.raw(file, settings) })
        let configuration = Configuration {
            $0.maximumReaders = readers
            $0.pageCacheSize = 2000 << 10
        }
        let pool = try DatabasePool(path: files.path(file), key: BenchmarkFiles.key(), configuration: configuration)
        let queue = try DatabaseQueue(path: files.path(file), key: BenchmarkFiles.key(), configuration: configuration)
        let all = keys(blocks * 100, below: files.rows.swift.count)
        let sql: SQL = "SELECT id, name, value, data FROM t WHERE id = ?"
        @Sendable func share(_ number: Int) -> StrideTo<Int> { stride(from: number, to: blocks, by: readers) }
        @Sendable func read(_ block: Int, _ database: Database) throws -> Int64 {
            var sum: Int64 = 0
            for id in all[(block * 100)..<(block * 100 + 100)] {
                let rows = try database.executeQuery(sql, id)
                if try rows.next() { sum += try self.sum(rows) }
            }
            return sum
        }
        return Workload(
            name: "\(readers) reader\(readers == 1 ? "" : "s"), blocks of 100 point reads",
            count: blocks,
            unit: "block",
            goals: readers == 2 ? ["pool": 1 / 0.9] : [:],
            sides: [
                Side(name: "raw C") {
                    onThreads(readers) { number in
                        all.withUnsafeBufferPointer { ids in
                            share(number).reduce(0) { sum, block in
                                sum + raw_points(handles.all[number], ids.baseAddress! + block * 100, 100)
                            }
                        }
                    }
                },
                Side(name: "pool") {
                    onThreads(readers) { number in
                        var sum: Int64 = 0
                        for block in share(number) { sum += try pool.read { try read(block, $0) } }
                        return sum
                    }
                },
                Side(name: "queue") {
                    onThreads(readers) { number in
                        var sum: Int64 = 0
                        for block in share(number) {
                            sum += try queue.inTransaction(.deferred) { try read(block, $0) }
                        }
                        return sum
                    }
                },
            ]
        )
    }

    /// What one more connection costs, under a key that is there already.
    static func opening(_ files: BenchmarkFiles, count: Int) throws -> Workload {
        let file = files.filled("opening.db")
        let key = try BenchmarkFiles.key()
        return Workload(
            name: "a connection opened with a raw key, and closed",
            count: count,
            unit: "connection",
            sides: [
                Side(name: "raw C") {
                    for _ in 0..<count { raw_close(files.raw(file)) }
                    return Int64(count)
                },
                Side(name: "Database") {
                    for _ in 0..<count {
                        let database = Database(path: files.path(file))
                        try database.open(key: key)
                        database.close()
                    }
                    return Int64(count)
                },
            ]
        )
    }

    /// Derivations of a passphrase: of C for one connection, and of a pool for a writer and eight readers, each of which reads.
    static func passphrase(_ files: BenchmarkFiles) throws -> Workload {
        let path = files.path("passphrase.db")
        raw_close(raw_open(path, "a passphrase", "CREATE TABLE t (a); PRAGMA journal_mode = wal"))
        let key = try DatabaseKey.passphrase("a passphrase")
        let eight = Configuration { $0.maximumReaders = 8 }
        return Workload(
            name: "opened with a passphrase, and read",
            count: 1,
            unit: "opening",
            goals: ["pool of 8": 1.1],
            sides: [
                Side(name: "raw C, one connection") {
                    let database = raw_open(path, "a passphrase", BenchmarkFiles.settings)
                    raw_close(database)
                    return 8
                },
                Side(name: "pool of 8") {
                    let pool = try DatabasePool(path: path, key: key, configuration: eight)
                    let started = DispatchGroup()
                    for _ in 0..<8 { started.enter() }
                    let sum = onThreads(8) { _ in
                        try pool.read { database in
                            // All readers are there at once.
                            started.leave()
                            started.wait()
                            return Int64(try database.int(forQuery: "SELECT count(*) FROM t") ?? -1) + 1
                        }
                    }
                    try pool.close()
                    return sum
                },
            ]
        )
    }
}
