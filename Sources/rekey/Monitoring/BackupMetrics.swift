import Foundation
import Rekeying

/// What `rekey backup --follow` has done as metrics of Prometheus. The names are published.
struct BackupMetrics {
    /// Begins every file of these metrics: only such a file is replaced.
    static let firstLine = "# Metrics of rekey backup\n"

    let file: String
    /// Looks that failed.
    var failures = 0
    /// When the last look ended.
    var ended = Date()
    private(set) var generation: Generation?
    private var lag: Duration?
    private var storedSize: Int64 = 0

    init(file: String) {
        self.file = file
    }

    mutating func add(_ generation: Generation, lag: Duration?) {
        if generation != self.generation { storedSize += generation.storedSize }
        self.generation = generation
        self.lag = lag
    }

    var text: String {
        let rows: [(name: String, help: String, value: Double?)] = [
            ("generation", "The number of the newest generation.", generation.map { Double($0.number) }),
            (
                "generation_timestamp_seconds", "When the state of the newest generation was read, in Unix time.",
                generation?.time.timeIntervalSince1970
            ),
            (
                "lag_seconds", "For how long at most a commit of the newest generation waited.",
                lag.map { $0 / .seconds(1) }
            ),
            ("stored_bytes", "Bytes that were stored since the start.", Double(storedSize)),
            ("failures", "Looks that failed since the start.", Double(failures)),
            (
                "look_timestamp_seconds", "When the last look ended, in Unix time.",
                ended.timeIntervalSince1970.rounded(.down)
            ),
        ]
        let families = rows.map { row in
            var family = MetricFamily("rekey_backup_\(row.name)", row.help)
            if let value = row.value { family.add(value, [("path", file)]) }
            return family.text
        }
        return BackupMetrics.firstLine + families.joined()
    }
}
