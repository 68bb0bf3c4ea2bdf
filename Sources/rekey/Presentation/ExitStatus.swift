import ArgumentParser
import CipherDB
import Foundation
import Rekeying

/// The exit statuses of the command.
enum ExitStatus: CaseIterable {
    case done, failure, usage, damaged, noInput, unavailable, cannotRemove, cannotCreate, inputOutput, busy,
        noPermission, interrupted

    /// 0, 1, a code of sysexits.h, or what a shell gives for SIGINT.
    var code: Int32 {
        switch self {
        case .done: EXIT_SUCCESS
        case .failure: EXIT_FAILURE
        case .usage: EX_USAGE
        case .damaged: EX_DATAERR
        case .noInput: EX_NOINPUT
        case .unavailable: EX_UNAVAILABLE
        case .cannotRemove: EX_SOFTWARE
        case .cannotCreate: EX_CANTCREAT
        case .inputOutput: EX_IOERR
        case .busy: EX_TEMPFAIL
        case .noPermission: EX_NOPERM
        case .interrupted: 128 + SIGINT
        }
    }

    /// In JSON.
    var name: String {
        switch self {
        case .done: "done"
        case .failure: "failure"
        case .usage: "usage"
        case .damaged: "damaged"
        case .noInput: "noInput"
        case .unavailable: "unavailable"
        case .cannotRemove: "cannotRemove"
        case .cannotCreate: "cannotCreate"
        case .inputOutput: "inputOutput"
        case .busy: "busy"
        case .noPermission: "noPermission"
        case .interrupted: "interrupted"
        }
    }

    var meaning: String {
        switch self {
        case .done: "done; after `verify` the file is sound, after `recover` nothing is missing"
        case .failure: "another failure"
        case .usage: "invalid arguments, or an invalid new key"
        case .damaged:
            "the file or repository is damaged or outdated, not encrypted, without MACs"
        case .noInput: "no such file, repository or generation"
        case .unavailable: "the SQLCipher library lacks a needed feature"
        case .cannotRemove: "done, but the old file could not be removed or the change not synced"
        case .cannotCreate: "a file exists already, or SQLite or the metrics could not open one"
        case .inputOutput: "reading or writing failed, the disk is full, or a directory is missing"
        case .busy: "another connection holds a lock; try again"
        case .noPermission: "wrong key, secret or parameters of the file, or no permission"
        case .interrupted: "interrupted by a signal; the file is unchanged"
        }
    }

    /// All but `done`, the gravest first: what the file is, then why it was not seen, then what another try may mend.
    private static let bySeverity: [ExitStatus] = [
        .damaged, .noPermission, .noInput, .unavailable, .inputOutput, .cannotCreate, .cannotRemove, .failure, .usage,
        .interrupted, .busy,
    ]

    /// The gravest of `statuses`; `done` where there is none.
    static func worst(_ statuses: [ExitStatus]) -> ExitStatus {
        bySeverity.first(where: statuses.contains) ?? .done
    }

    /// Whether the same may succeed later: of what the system, a disk or a server refuses, and of locks.
    var mayPass: Bool { self == .inputOutput || self == .busy }

    static var table: String {
        allCases.map { "  \(String($0.code).padded(to: 3)) \($0.meaning)" }.joined(separator: "\n")
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
