import ArgumentParser
import CipherDB
import CipherKeys
import Foundation
import Rekeying

/// `rekey status FILE…`
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Report for a monitor whether files are encrypted and sound.",
        discussion: """
            Prints one line for each file. Without a key it looks only whether the file is encrypted; with a key it \
            verifies the file as `rekey verify` does. It never prompts for a passphrase unless --keyring is given \
            without a secret. Each file is checked, whatever the others are; the exit status is the gravest of all: \
            65 for a file that is plaintext, damaged or no database, then 77, 66, 69, 74, 73, 1, 64, 130, 75. Status 0 without a key \
            proves nothing: metrics and JSON call a file verified only if all its pages were proved with the key.
            """
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @Flag(help: "Skip SQLite's integrity check (several times slower than the page check).")
    var pagesOnly = false
    @Option(
        help: ArgumentHelp(
            "Also write the results as metrics of Prometheus to this file, which is replaced in one step; - prints them in place of the lines.",
            valueName: "path"
        ),
        completion: .file()
    )
    var prometheus: String?
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    private var printsMetrics: Bool { prometheus == "-" }

    func validate() throws {
        if key.keyring == nil { try key.checkNoKeyring() }
        if pagesOnly, !key.namesKey { throw ValidationError("--pages-only checks the pages with a key: give one.") }
        if printsMetrics, report.json { throw ValidationError("--prometheus - and --json exclude each other.") }
        if prometheus != nil, Set(files.map(\.pathBytes)).count < files.count {
            throw ValidationError("--prometheus: give each file once; two samples must not have the same labels.")
        }
    }

    func run() throws {
        var failed: [ExitStatus] = []
        var metrics = printsMetrics ? nil : prometheus.map { MetricsFile(path: $0, firstLine: StatusMetrics.firstLine) }
        var refusal: UnwritableMetrics?
        do {
            try metrics?.write(StatusMetrics.ofRunningCheck)
        } catch {
            // The check is made all the same; nobody must take the old metrics for its result.
            if error.isOfTheSystem, let old = metrics, !old.invalidate() {
                Output.tell("rekey: \(old.path): the old metrics could not be removed\n")
            }
            refusal = error
            metrics = nil
        }
        let keys = key.namesKey ? FileKeys(key) : nil
        var checks: [DatabaseCheck] = []
        let outcome = Result {
            failed += try report.failures(files, isSilent: printsMetrics) { file, progress in
                let check = DatabaseCheck(
                    file,
                    try key.database(file),
                    keys: keys,
                    checksStructure: !pagesOnly,
                    keyring: key.keyringToRead(for: file),
                    progress: progress.show
                )
                checks.append(check)
                return Report.Result(StatusObject(check), line: check.line, status: check.status)
            }
        }
        let isComplete = checks.count == files.count && !checks.contains(where: \.isInterrupted)
        let text = StatusMetrics.text(checks, isComplete: isComplete)
        if printsMetrics { try Output.write(text) }
        do {
            try metrics?.write(text)
        } catch {
            refusal = error
        }
        if let refusal {
            Output.tell("rekey: \(refusal)\n")
            failed.append(ExitStatus(refusal))
        }
        try outcome.get()
        let worst = ExitStatus.worst(failed)
        if worst != .done { throw ExitCode(worst.code) }
    }
}

/// A check as `status` prints it in JSON.
struct StatusObject: Encodable {
    private let check: DatabaseCheck

    init(_ check: DatabaseCheck) {
        self.check = check
    }

    private enum Key: CodingKey {
        case state, encrypted, verified, ok, exitStatus, size, fileType, checked, seconds, error, message, keyring,
            keyringError
    }

    func encode(to encoder: any Encoder) throws {
        // The members of a verification are the same as `verify` prints.
        if let found = check.verification {
            try VerificationObject(found, keyRetired: check.keyRetired).encode(to: encoder)
        }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(check.state.rawValue, forKey: .state)
        try container.encode(check.isEncrypted, forKey: .encrypted)
        try container.encode(check.isVerified, forKey: .verified)
        try container.encode(check.status == .done, forKey: .ok)
        try container.encode(check.status.code, forKey: .exitStatus)
        try container.encodeIfPresent(check.inspection?.size, forKey: .size)
        try container.encodeIfPresent(check.inspection?.fileType, forKey: .fileType)
        try container.encode(check.ended.formatted(.iso8601), forKey: .checked)
        try container.encode(check.seconds, forKey: .seconds)
        if let error = check.error {
            try container.encode(Answer.name(of: error), forKey: .error)
            try container.encode(check.message, forKey: .message)
        }
        switch check.keyring {
        case (let path, .success(let content))?:
            try container.encode(KeyringJSON(content, path: path), forKey: .keyring)
        case (_, .failure(let error))?: try container.encode("\(error)", forKey: .keyringError)
        case nil: break
        }
    }
}
