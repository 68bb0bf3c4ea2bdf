import Foundation
import Rekeying

/// What `rekey backup --follow` has done as metrics of Prometheus. The names are published.
extension BackupMetrics {
    /// Begins every file of these metrics: only such a file is replaced.
    static let firstLine = "# Metrics of rekey backup\n"

    func text(of file: String) -> String {
        let rows: [(name: String, help: String, value: Double?)] = [
            ("generation", "The number of the newest generation.", generation.map { Double($0.number) }),
            (
                "generation_timestamp_seconds", "When the state of the newest generation was read, in Unix time.",
                generation?.time.timeIntervalSince1970
            ),
            (
                "complete_until_timestamp_seconds", "Each commit before this Unix time is stored.",
                completeUntil?.timeIntervalSince1970
            ),
            (
                "lag_seconds",
                "For how long at most a commit of the newest generation waited, or waits while looks fail.",
                lag.map { $0 / .seconds(1) }
            ),
            ("stored_bytes_total", "Bytes that were stored since the start.", Double(storedSize)),
            ("failures_total", "Looks that failed since the start.", Double(failures)),
            (
                "look_timestamp_seconds", "When the last look ended, in Unix time.",
                lookedAt?.timeIntervalSince1970.rounded(.down)
            ),
        ]
        return BackupMetrics.firstLine + MetricFamily.text("rekey_backup_", of: file, rows)
    }
}
