import CipherDB
internal import CipherKeys
internal import CipherSystem
import Foundation
import Rekeying

/// A metric in the text format of Prometheus, with its samples.
struct MetricFamily {
    /// Letters, digits and `_`.
    let name: String
    let help: String
    let kind: Kind
    private(set) var samples: [Sample] = []

    enum Kind: String {
        case gauge
        /// What only grows, from 0 at the start. Its name ends with `_total`.
        case counter
    }

    struct Sample {
        let labels: [(name: String, value: String)]
        let value: Double
    }

    init(_ name: String, _ help: String, _ kind: Kind = .gauge) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    /// The text of metrics of one path, named by a prefix and theirs; one without a value is left out.
    static func text(
        _ prefix: String,
        of path: String,
        _ rows: [(name: String, help: String, value: Double?)]
    ) -> String {
        rows.map { row in
            var family = MetricFamily(prefix + row.name, row.help, row.name.hasSuffix("_total") ? .counter : .gauge)
            if let value = row.value { family.add(value, [("path", path)]) }
            return family.text
        }
        .joined()
    }

    mutating func add(_ value: Double, _ labels: [(name: String, value: String)] = []) {
        samples.append(Sample(labels: labels, value: value))
    }

    /// Empty without samples.
    var text: String {
        guard !samples.isEmpty else { return "" }
        let lines = samples.map { sample in
            let labels = sample.labels.map { "\($0.name)=\"\(MetricFamily.escaped($0.value))\"" }
            return name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") + " \(number(sample.value))"
        }
        return (["# HELP \(name) \(help)", "# TYPE \(name) \(kind)"] + lines).joined(separator: "\n") + "\n"
    }

    /// Without a fraction or an exponent where the number is an integer: for readers that are people.
    private func number(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }

    /// A label's value, which must be UTF-8: a byte of a path that is not is written as U+FFFD and two digits, a character that changes how
    /// text is displayed as U+FFFD and its number in braces, and U+FFFD twice, so that no two paths have one value. The collector would drop a file in which two samples are the same.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            let bytes = String(scalar).pathBytes
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            case "\u{FFFD}": text += "\u{FFFD}\u{FFFD}"
            case _ where bytes.count == 1 && bytes[0] >= 0x80: text += "\u{FFFD}" + String(bytes[0], radix: 16)
            case _ where scalar.changesDisplay: text += "\u{FFFD}{" + String(scalar.value, radix: 16) + "}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

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
