import Foundation

/// Another library that wraps SQLite, which does the benchmark's work in a program of its own:
///
///     PROGRAM PATH KEY SETTINGS WORK [NUMBER …]
///
/// A program that has such a type as its `@main` is given to the benchmark by CIPHERDB_BENCH_PEERS.
public protocol Contender: SendableMetatype {
    /// Opens the file, sets the raw key, and runs the settings if they are not empty.
    init(path: String, key digits: String, settings: String) throws

    /// Drops the table t, and creates it.
    func empty() throws
    /// Inserts all rows in one transaction.
    func insert(_ rows: [SampleRow<Data>]) throws
    /// Inserts a row in a transaction of its own.
    func insert(_ row: SampleRow<Data>) throws
    /// `count(*)`.
    func count() throws -> Int64
    /// The digests of all rows.
    func scan() throws -> Int64
    /// The digests of the rows with these keys, one query each, in one transaction.
    func points(_ ids: ArraySlice<Int64>) throws -> Int64
    /// As ``points(_:)`` for one key, in a transaction of its own.
    func point(_ id: Int64) throws -> Int64
    /// Closes the file.
    func close() throws

    /// What reads blocks of keys on several threads: a connection for each, or the library's pool.
    static func pool(path: String, key digits: String, settings: String, readers: Int) throws
        -> @Sendable (Int, ArraySlice<Int64>) throws -> Int64

    /// What only this library is asked for, by name, with the work's numbers.
    static var extras: [String: (Self, [Int]) throws -> Work] { get }
}

/// Connections that each are one thread's.
private struct Connections<One: Contender>: @unchecked Sendable {
    let all: [One]
}

extension Contender {
    /// None.
    public static var extras: [String: (Self, [Int]) throws -> Work] { [:] }

    /// A connection for each thread.
    public static func pool(path: String, key digits: String, settings: String, readers: Int) throws
        -> @Sendable (Int, ArraySlice<Int64>) throws -> Int64
    {
        let connections = Connections(
            all: try (0..<readers).map { _ in try Self(path: path, key: digits, settings: settings) }
        )
        return { number, ids in try connections.all[number].points(ids) }
    }

    /// Does what the command line asks for, turn by turn.
    public static func main() throws {
        let arguments = CommandLine.arguments
        let numbers = arguments[5...].map { Int($0)! }
        try work(arguments[4], numbers) {
            try Self(path: arguments[1], key: arguments[2], settings: arguments[3])
        } pool: {
            try pool(path: arguments[1], key: arguments[2], settings: arguments[3], readers: $0)
        }.serve()
    }

    private static func work(
        _ name: String,
        _ numbers: [Int],
        open: @escaping () throws -> Self,
        pool: (Int) throws -> @Sendable (Int, ArraySlice<Int64>) throws -> Int64
    ) throws -> Work {
        switch name {
        case "insert":
            let (contender, rows) = (try open(), SampleRow.rows(numbers[0]))
            return Work(prepare: contender.empty) {
                try contender.insert(rows)
                return Int64(rows.count)
            }
        case "commits":
            let (contender, rows) = (try open(), SampleRow.rows(numbers[0]))
            return .each(rows.count, prepare: contender.empty) {
                try contender.insert(rows[$0])
                return 1
            }
        case "openings":
            return .each(numbers[0]) { _ in
                let contender = try open()
                let sum = try contender.point(1)
                try contender.close()
                return sum
            }
        case "single-points":
            let (contender, ids) = (try open(), keys(numbers[0], below: numbers[1]))
            return .each(ids.count) { try contender.point(ids[$0]) }
        case "points":
            let (contender, ids) = (try open(), keys(numbers[0], below: numbers[1]))
            return Work { try contender.points(ids[...]) }
        case "readers":
            let blocks = Blocks(numbers[0], readers: numbers[2], below: numbers[1])
            let read = try pool(numbers[2])
            return Work { blocks.onThreads(read) }
        case "count": return try work(open, again: { try $0.count() })
        case "scan": return try work(open, again: { try $0.scan() })
        case "cold-count": return work(open, cold: { try $0.count() })
        case "cold-points":
            let ids = keys(numbers[0], below: numbers[1])
            return work(open, cold: { try $0.points(ids[...]) })
        default:
            guard let extra = extras[name] else { fatalError("no work \(name)") }
            return try extra(open(), numbers)
        }
    }

    private static func work(_ open: () throws -> Self, again body: @escaping (Self) throws -> Int64) throws -> Work {
        let contender = try open()
        return Work { try body(contender) }
    }

    /// With a connection that was just opened.
    private static func work(_ open: @escaping () throws -> Self, cold body: @escaping (Self) throws -> Int64) -> Work {
        var contender: Self?
        return Work {
            try contender?.close()
            contender = try open()
        } run: {
            try body(contender!)
        }
    }
}
