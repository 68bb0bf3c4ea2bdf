import CipherDB
import Foundation
import Rekeying

/// The checks of one run as metrics of Prometheus. The names are published.
struct StatusMetrics {
    /// Begins every file of these metrics: only such a file is replaced.
    static let firstLine = "# Metrics of rekey status\n"

    /// While the files are checked: without a sample of any file, so that what an earlier run found does not stay if this one is killed.
    static var ofRunningCheck: String { firstLine + complete(false).text }

    private static func complete(_ isComplete: Bool) -> MetricFamily {
        var family = MetricFamily(
            "rekey_check_complete",
            "1 if the last check came to its end, 0 while one runs or after it was broken off."
        )
        family.add(isComplete ? 1 : 0)
        return family
    }

    /// All metrics of a run that checked these files.
    ///
    /// - Parameter isComplete: Whether all files were checked to the end.
    static func text(_ checks: [DatabaseCheck], isComplete: Bool, ended: Date = Date()) -> String {
        var timestamp = MetricFamily("rekey_check_timestamp_seconds", "When the last check ended, in Unix time.")
        timestamp.add(ended.timeIntervalSince1970.rounded(.down))
        let families = [complete(isComplete), timestamp] + ofFiles(checks) + ofKeyrings(checks)
        return firstLine + families.map(\.text).joined()
    }

    private typealias Value = (DatabaseCheck) -> Double?

    private static func family(
        _ name: String,
        _ help: String,
        _ checks: [DatabaseCheck],
        _ value: Value
    ) -> MetricFamily {
        var family = MetricFamily(name, help)
        for check in checks {
            if let value = value(check) { family.add(value, [("path", check.file)]) }
        }
        return family
    }

    private static func ofFiles(_ checks: [DatabaseCheck]) -> [MetricFamily] {
        var state = MetricFamily("rekey_database_info", "Always 1; the label state has what the file is.")
        for check in checks { state.add(1, [("path", check.file), ("state", check.state.rawValue)]) }
        let rows: [(name: String, help: String, value: Value)] = [
            (
                "encrypted",
                "1 if the file is encrypted, by its look or under its key; 0 if not, or if it could not be read.",
                { $0.isEncrypted ? 1 : 0 }
            ),
            (
                "verified", "1 if the last check proved all pages with the key; 0 if not, also without a key.",
                { $0.isVerified ? 1 : 0 }
            ),
            (
                "exit_status", "The exit status of rekey for the file; 0 if no error was found.",
                { Double($0.status.code) }
            ),
            ("size_bytes", "Size of the file.", { ($0.inspection?.size).map(Double.init) }),
            ("checked_pages", "Pages that were checked with the key.", { ($0.verification?.pages).map(Double.init) }),
            (
                "damaged_pages", "Pages that are missing or whose MAC is wrong.",
                { ($0.verification?.damagedPageCount).map(Double.init) }
            ),
            (
                "problems", "Lines of SQLite's integrity check, and other errors of structure.",
                { ($0.verification?.problems.count).map(Double.init) }
            ),
            (
                "key_retired", "1 if the file is under a retired key of the keyring.",
                { $0.verification == nil ? nil : $0.keyRetired == nil ? 0 : 1 }
            ),
            ("check_duration_seconds", "How long the check of the file took.", { $0.seconds }),
        ]
        return [state] + rows.map { family("rekey_database_\($0.name)", $0.help, checks, $0.value) }
    }

    private static func ofKeyrings(_ checks: [DatabaseCheck]) -> [MetricFamily] {
        func value(_ value: @escaping (KeyringContent) -> Double) -> Value {
            { check in (try? check.keyring?.content.get()).map(value) }
        }
        let rows: [(name: String, help: String, value: Value)] = [
            (
                "readable", "1 if the keyring of the file can be read and is not damaged.",
                { check in check.keyring.map { (try? $0.content.get()) == nil ? 0 : 1 } }
            ),
            ("sequence_number", "Raised by each change of the keyring.", value { Double($0.generation) }),
            (
                "key_created_timestamp_seconds", "When the current key of the keyring was made, in Unix time.",
                value { $0.keyCreated.timeIntervalSince1970.rounded(.down) }
            ),
            (
                "rotation_pending", "1 if a rotation of the key was begun and not completed.",
                value { $0.isRotationPending ? 1 : 0 }
            ),
        ]
        return rows.map { family("rekey_keyring_\($0.name)", $0.help, checks, $0.value) }
    }
}
