import CipherDB
import FMDBCompat
import Foundation
import RawC
import Turns

/// The page caches that point reads are made with.
enum PointsCache: CaseIterable {
    /// 32 MiB for everyone: all is in it.
    case large
    /// 2 MB for everyone, a seventh of the file.
    case small
    /// As each opens a file.
    case defaults

    var settings: String {
        switch self {
        case .large: BenchmarkFiles.settings
        case .small: BenchmarkFiles.smallCache
        case .defaults: ""
        }
    }

    var name: String {
        switch self {
        case .large: "point reads in one transaction"
        case .small: "point reads in one transaction, cache of 2 MB"
        case .defaults: "point reads in one transaction, at the defaults, over CipherDB's"
        }
    }
}

extension Workload {
    static func points(_ files: BenchmarkFiles, _ cache: PointsCache, count: Int) -> Workload {
        let raw = Side(name: "raw C") {
            let (raw, ids) = (files.raw("points.db", cache.settings), keys(count, below: files.rowCount))
            return Work { raw_points(raw, ids, Int64(count)) }
        }
        let typed = pointSide(files, "typed", cache.settings, count) { try points($1, $0) }
        let bySQL = pointSide(files, "by SQL", cache.settings, count) { database, ids in
            var sum: Int64 = 0
            for id in ids {
                let rows = try database.executeQuery(BenchmarkFiles.point, id)
                if try rows.next() { sum += try self.sum(rows) }
            }
            return sum
        }
        let compat = Side(name: "FMDBCompat") {
            let (compat, ids) = (files.compat("points.db", cache.settings), keys(count, below: files.rowCount))
            return Work { points(ids, compat) }
        }
        let goals: [String: Goal] =
            switch cache {
            case .large: [:]
            case .small: ["typed": .atMost(0.75)]
            case .defaults: ["GRDB": .atLeast(15)]
            }
        return Workload(
            name: cache.name,
            count: count,
            unit: "query",
            goals: goals,
            setUp: { files.fill("points.db") },
            sides: (cache == .defaults ? [typed, raw] : [raw, typed]) + [bySQL, compat]
                + files.peers("points", "points.db", settings: cache.settings, [count, files.rowCount])
        )
    }

    private static func pointSide(
        _ files: BenchmarkFiles,
        _ name: String,
        _ settings: String,
        _ count: Int,
        _ read: @escaping (Database, [Int64]) throws -> Int64
    ) -> Side {
        Side(name: name) {
            let (database, ids) = (try files.database("points.db", settings), keys(count, below: files.rowCount))
            return Work { try database.inTransaction(.deferred) { try read($0, ids) } }
        }
    }

    /// With one prepared statement, in whatever transaction there is.
    static func points(_ ids: [Int64], _ database: Database) throws -> Int64 {
        var sum: Int64 = 0
        let statement = try database.prepare(BenchmarkFiles.point)
        for id in ids {
            let rows = try statement.executeQuery(id)
            if try rows.next() { sum += try self.sum(rows) }
        }
        return sum
    }

    /// In one transaction.
    static func points(_ ids: [Int64], _ compat: FMDatabase) -> Int64 {
        _ = compat.beginDeferredTransaction()
        defer { _ = compat.commit() }
        return ids.reduce(0) { $0 + point($1, compat) }
    }

    static func point(_ id: Int64, _ compat: FMDatabase) -> Int64 {
        let rows = compat.executeQuery(BenchmarkFiles.pointText, withArgumentsIn: [id])!
        defer { rows.close() }
        return rows.next() ? sum(rows) : 0
    }

    static func pointsAlone(_ files: BenchmarkFiles, count: Int) -> Workload {
        Workload(
            name: "point reads, each in a transaction of its own",
            count: count,
            unit: "query",
            setUp: { files.fill("alone.db") },
            sides: [
                Side(name: "raw C") {
                    let (raw, ids) = (files.raw("alone.db"), keys(count, below: files.rowCount))
                    return Work { raw_points_alone(raw, ids, Int64(count)) }
                },
                Side(name: "typed") {
                    let (typed, ids) = (try files.database("alone.db"), keys(count, below: files.rowCount))
                    return Work { try points(ids, typed) }
                },
            ]
        )
    }
}
