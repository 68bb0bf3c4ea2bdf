import CipherDB
import Foundation

@main
struct Bench {
    static func main() throws {
        let options = Options(Array(CommandLine.arguments.dropFirst()))
        if let name = options.served { return try serve(name, options) }
        let version = Engine.current.sqlcipherVersion ?? "unknown"
        print("SQLCipher \(version), \(options.rows) rows, \(options.rounds) rounds, in \(options.directory)")
        let directory = options.directory + "/cipherdb-bench-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let files = BenchmarkFiles(directory: directory, rows: options.rows)
        var measurements: [Measurement] = []
        for topic in Topic.all(options) {
            for workload in topic.workloads(files) where workload.name == options.workload ?? workload.name {
                try files.clear(except: workload.keeps)
                let measurement = try Measurement(workload, options.side, rounds: options.rounds) {
                    options.command(topic.name, workload, $0, in: directory)
                }
                measurement.print()
                measurements.append(measurement)
            }
        }
        if let path = options.json { try measurements.json().write(to: URL(fileURLWithPath: path)) }
        if let path = options.chart { try Data(measurements.chart().utf8).write(to: URL(fileURLWithPath: path)) }
    }

    /// Is one side of a workload, in the process that the side has.
    private static func serve(_ name: String, _ options: Options) throws {
        let files = BenchmarkFiles(directory: options.directory, rows: options.rows)
        let workload = Topic.all(options).lazy.flatMap { $0.workloads(files) }.first { $0.name == name }
        guard case .this(let start)? = workload?.sides.first(where: { $0.name == options.side })?.program else {
            fatalError("no side \(options.side ?? "") of \(name)")
        }
        try start().serve()
    }
}
