import CipherDB
import Dispatch
import Foundation
import RawC
import Turns

/// Handles of C, which each are one thread's.
private struct Handles: @unchecked Sendable {
    let all: [OpaquePointer]
}

extension Workload {
    /// Threads that read a share of the work each, in blocks of a hundred queries: through connections of their own in
    /// C, and through one pool and one queue.
    static func throughput(_ files: BenchmarkFiles, readers: Int, blocks count: Int) -> Workload {
        let file = "readers.db"
        // Larger than the cache: pages are decrypted all the time, as with data that is worth a pool.
        let settings = "\(BenchmarkFiles.smallCache); PRAGMA journal_mode = wal"
        let configuration = Configuration {
            $0.maximumReaders = readers
            $0.pageCacheSize = 2000 << 10
        }
        let blocks = { Blocks(count, readers: readers, below: files.rowCount) }
        @Sendable func read(_ ids: ArraySlice<Int64>, _ database: Database) throws -> Int64 {
            var sum: Int64 = 0
            for id in ids {
                let rows = try database.executeQuery(BenchmarkFiles.point, id)
                if try rows.next() { sum += try self.sum(rows) }
            }
            return sum
        }
        return Workload(
            name: "\(readers) reader\(readers == 1 ? "" : "s"), blocks of 100 point reads",
            count: count,
            unit: "block",
            goals: readers == 2 ? ["pool": .atMost(1 / 0.9)] : [:],
            setUp: {
                files.fill(file)
                raw_close(files.raw(file, settings))
            },
            sides: [
                Side(name: "raw C") {
                    let handles = Handles(all: (0..<readers).map { _ in files.raw(file, settings) })
                    let blocks = blocks()
                    return Work {
                        blocks.onThreads { number, ids in
                            ids.withUnsafeBufferPointer {
                                raw_points(handles.all[number], $0.baseAddress, Int64($0.count))
                            }
                        }
                    }
                },
                Side(name: "pool") {
                    let key = try BenchmarkFiles.key()
                    let pool = try DatabasePool(path: files.path(file), key: key, configuration: configuration)
                    let blocks = blocks()
                    return Work { blocks.onThreads { _, ids in try pool.read { try read(ids, $0) } } }
                },
                Side(name: "queue") {
                    let key = try BenchmarkFiles.key()
                    let queue = try DatabaseQueue(path: files.path(file), key: key, configuration: configuration)
                    let blocks = blocks()
                    return Work {
                        blocks.onThreads { _, ids in try queue.inTransaction(.deferred) { try read(ids, $0) } }
                    }
                },
            ] + files.peers("readers", file, settings: BenchmarkFiles.smallCache, [count, files.rowCount, readers])
        )
    }

    /// Threads that write one row after the other, each in a transaction of its own that is on the disk when it returns: a queue whose
    /// blocks commit alone, one whose blocks share commits, and GRDB's, also with its pool's default, by which a commit is not on the disk.
    static func writers(_ files: BenchmarkFiles, _ threads: Int, blocks count: Int) -> Workload {
        func side(_ name: String, shares: Bool) -> Side {
            Side(name: name) {
                let configuration = Configuration {
                    $0.journalMode = .wal
                    $0.sharesCommits = shares
                }
                let path = files.path("writers-\(name).db")
                let queue = try DatabaseQueue(path: path, key: BenchmarkFiles.key(), configuration: configuration)
                try queue.write { try $0.executeStatements(SQL(unsafe: BenchmarkFiles.empty)) }
                let blocks = Blocks(count, readers: threads, below: 1)
                return Work {
                    blocks.onThreads { _, ids in
                        for _ in ids {
                            try queue.write { try $0.executeUpdate("INSERT INTO t (name) VALUES (?)", "a row") }
                        }
                        return Int64(ids.count)
                    }
                }
            }
        }
        let grdb = Peer.grdb.map { peer in
            ["FULL", "NORMAL"].map { level in
                let settings = "PRAGMA journal_mode = wal; PRAGMA synchronous = \(level)"
                let work = [files.path("writers-grdb.db"), BenchmarkFiles.digits, settings, "writers"]
                return Side(name: "GRDB, \(level)", peer, work + ["\(count)", "\(threads)"])
            }
        }
        return Workload(
            name: "\(threads) writers, each row in a transaction of its own",
            count: count * 100,
            unit: "row",
            goals: ["shared": .atMost(1 / 8)],
            sides: [side("alone", shares: false), side("shared", shares: true)] + (grdb ?? [])
        )
    }

    /// Reads that are timed one by one while threads of the same pool write.
    static func readsBesideWriters(_ files: BenchmarkFiles, _ writers: Int, count: Int) -> Workload {
        let file = "beside.db"
        let settings = BenchmarkFiles.settings + "; PRAGMA journal_mode = wal; PRAGMA synchronous = full"
        let grdb = Peer.grdb.map {
            let work = [files.path(file), BenchmarkFiles.digits, settings, "reads beside writers"]
            return Side(name: $0.name, $0, work + [count, files.rowCount, writers].map(String.init))
        }
        return Workload(
            name: "one point read beside \(writers) writers, WAL",
            count: count,
            unit: "query",
            goals: grdb == nil ? [:] : ["typed": .atMost(1)],
            setUp: { files.fill(file) },
            sides: (grdb.map { [$0] } ?? []) + [
                Side(name: "typed") {
                    let pool = try DatabasePool(path: files.path(file), key: BenchmarkFiles.key())
                    let ids = keys(count, below: files.rowCount)
                    return .each(count, besideWriters: writers) { number in
                        try pool.write { try $0.executeUpdate("UPDATE t SET value = ? WHERE id = ?", 0.5, number) }
                    } operation: { number in
                        try pool.read { database in
                            let rows = try database.executeQuery(BenchmarkFiles.point, ids[number])
                            return try rows.next() ? sum(rows) : 0
                        }
                    }
                }
            ]
        )
    }

    /// What one more connection costs, under a key that is there already.
    static func opening(_ files: BenchmarkFiles, count: Int) -> Workload {
        Workload(
            name: "a connection opened with a raw key, and closed",
            count: count,
            unit: "connection",
            goals: ["Database": .atMost(1.1)],
            setUp: { files.fill("opening.db") },
            sides: [
                Side(name: "raw C") {
                    Work {
                        for _ in 0..<count { raw_close(files.raw("opening.db")) }
                        return Int64(count)
                    }
                },
                Side(name: "Database") {
                    let key = try BenchmarkFiles.key()
                    return Work {
                        for _ in 0..<count {
                            let database = Database(path: files.path("opening.db"))
                            try database.open(key: key)
                            database.close()
                        }
                        return Int64(count)
                    }
                },
            ]
        )
    }

    /// Derivations of a passphrase: of C for one connection, and of a pool for a writer and eight readers, each of which
    /// reads.
    static func passphrase(_ files: BenchmarkFiles) -> Workload {
        let path = files.path("passphrase.db")
        return Workload(
            name: "opened with a passphrase, and read",
            count: 1,
            unit: "opening",
            goals: ["pool of 8": .atMost(1.1)],
            setUp: { raw_close(raw_open(path, "a passphrase", "CREATE TABLE t (a); PRAGMA journal_mode = wal")) },
            sides: [
                Side(name: "raw C, one connection") {
                    Work {
                        raw_close(raw_open(path, "a passphrase", BenchmarkFiles.settings))
                        return 8
                    }
                },
                Side(name: "pool of 8") {
                    let key = try DatabaseKey.passphrase("a passphrase")
                    let eight = Configuration { $0.maximumReaders = 8 }
                    return Work {
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
                    }
                },
            ]
        )
    }
}
