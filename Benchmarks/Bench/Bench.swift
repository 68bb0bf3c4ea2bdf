import CipherDB
import Foundation

/// What the command line asks for.
struct Options {
    var rounds = 5
    var rows = 200_000
    var directory = FileManager.default.temporaryDirectory.path
    var topic = ""
    var json: String?
    var chart: String?

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst(), let value = rest.popFirst() {
            switch name {
            case "--rounds": rounds = Int(value) ?? rounds
            case "--rows": rows = Int(value) ?? rows
            case "--directory": directory = value
            case "--topic": topic = value
            case "--json": json = value
            case "--chart": chart = value
            default:
                fatalError(
                    "usage: Bench [--rounds N] [--rows N] [--directory PATH] [--topic NAME] [--json FILE] [--chart FILE]"
                )
            }
        }
    }
}

@main
struct Bench {
    static func main() throws {
        let options = Options(Array(CommandLine.arguments.dropFirst()))
        let files = try BenchmarkFiles(directory: options.directory, rows: options.rows)
        defer { files.remove() }
        let rows = options.rows
        let topics: [(name: String, make: (BenchmarkFiles) throws -> [Workload])] = [
            ("insert", { [try .bulkInsert($0)] }),
            ("count", { [try .count($0)] }),
            ("scan", { [try .scan($0, isCached: false)] }),
            ("scan-cached", { [try .scan($0, isCached: true)] }),
            ("decode", { [try .decode($0)] }),
            ("borrow", { [try .scanBorrowing($0, isCached: false), try .scanBorrowing($0, isCached: true)] }),
            ("points", { [try .points($0, count: rows / 4)] }),
            ("points-alone", { [try .pointsAlone($0, count: rows / 4)] }),
            ("ranges", { [try .ranges($0, count: rows / 100)] }),
            ("small", { [try .small($0, count: rows)] }),
            (
                "commit",
                { [try .autocommit($0, .delete, count: rows / 400), try .autocommit($0, .wal, count: rows / 100)] }
            ),
            ("blobs", { try Workload.blobs($0, count: max(1, rows / 4000)) }),
            ("texts", { try Workload.texts($0, count: rows / 4) }),
            ("wide", { try Workload.wide($0, count: rows / 10) }),
            ("readers", { files in try [1, 2, 4, 8].map { try .throughput(files, readers: $0, blocks: rows / 400) } }),
            ("opening", { [try .opening($0, count: 200), try .passphrase($0)] }),
            ("settings", { try Workload.settings($0, count: rows / 100) }),
        ]
        print(
            "SQLCipher \(Engine.current.sqlcipherVersion ?? "unknown"), \(rows) rows, \(options.rounds) rounds, in \(options.directory)"
        )
        var measurements: [Measurement] = []
        for topic in topics where options.topic.isEmpty || topic.name == options.topic {
            for workload in try topic.make(files) {
                let measurement = try Measurement(workload, rounds: options.rounds)
                measurement.print()
                measurements.append(measurement)
            }
        }
        if let path = options.json { try measurements.json().write(to: URL(fileURLWithPath: path)) }
        if let path = options.chart { try Data(measurements.chart().utf8).write(to: URL(fileURLWithPath: path)) }
    }
}
