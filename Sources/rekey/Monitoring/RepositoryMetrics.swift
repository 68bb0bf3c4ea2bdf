import Foundation
import Rekeying

/// What `rekey backups check` found, as metrics of Prometheus. The names are published.
struct RepositoryMetrics {
    /// Begins every file of these metrics: only such a file is replaced.
    static let firstLine = "# Metrics of rekey backups check\n"

    static func text(of repository: String, _ found: RepositoryCheck, restorable: Int, ended: Date = Date()) -> String {
        let rows: [(name: String, help: String, value: Double?)] = [
            (
                "restorable", "Generations that can be restored, with the keyring or key that was given.",
                Double(restorable)
            ),
            (
                "under_other_keys", "Generations that no key which was given opens.",
                Double(found.underOtherKeys.count)
            ),
            (
                "with_keyring", "Generations whose key is in a keyring that the repository stores.",
                Double(found.withKeyring.count)
            ),
            ("problems", "What is wrong; 0 where all is well.", Double(found.problems.count)),
            (
                "check_timestamp_seconds", "When the last check ended, in Unix time.",
                ended.timeIntervalSince1970.rounded(.down)
            ),
        ]
        return firstLine + MetricFamily.text("rekey_repository_", of: repository, rows)
    }
}
