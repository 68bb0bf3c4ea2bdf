import ArgumentParser
import CipherDB
internal import CipherSystem
import Rekeying

/// What becomes of the old file when a new one replaces it.
struct ReplacementOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep a copy of the old file under this name, on the same file system.",
            valueName: "path"
        ),
        completion: .file()
    )
    var keepOld: String?
    @Flag(help: "Check the key and the lock, print what would be done, and change nothing.")
    var dryRun = false

    /// The file, and with a dry run one that ends before anything is written.
    func database(_ path: String, _ key: KeyOptions) throws -> DatabaseFile {
        ReplacementOptions.database(try key.database(path), isDryRun: dryRun)
    }

    /// The file, which a dry run ends before anything is written.
    static func database(_ file: DatabaseFile, isDryRun: Bool) -> DatabaseFile {
        guard isDryRun else { return file }
        var file = file
        file.willRewrite = { throw DryRun(plan: $0) }
        return file
    }

    /// What `body` did, or would have done.
    ///
    /// - Parameters:
    ///   - file: A file that may get another format, which is said if it is an old one.
    ///   - notes: What to say when it is done.
    static func result(
        of file: String? = nil,
        prefix: [(String, String)] = [],
        notes: @autoclosure () -> [(String, String)] = [],
        _ body: () throws -> RewriteResult
    ) throws -> Report.Result {
        do {
            let done = try body()
            if let file { OldFormatNote.tell(file, done) }
            return Report.Result(ReplacementObject(done), lines: prefix + ReplacementObject.lines(done) + notes())
        } catch let error as RekeyError {
            guard error.code == .notNeeded, let reason = error.reason else { throw error }
            // So that a script can run the command twice.
            return Report.Result(NotNeeded(note: reason), lines: [("nothing to do", reason)])
        } catch let dry as DryRun {
            return Report.Result(PlanObject(dry.plan), lines: PlanObject.lines(dry.plan))
        }
    }

    /// One path cannot be that of several copies.
    func check(_ files: [String]) throws {
        if keepOld != nil, files.count > 1 { throw ValidationError("--keep-old needs exactly one database file.") }
    }
}

/// A replacement as the commands print it.
struct ReplacementObject: Encodable {
    let previousFormat: FormatObject?
    let format: Int?
    let pageSize: Int
    let pages: Int
    let parameters: FormatObject?
    let notChecked: [String]?
    let ok = true

    init(_ done: RewriteResult) {
        previousFormat = done.previousFormat.map(FormatObject.init)
        format = done.format?.version
        pageSize = done.pageSize
        pages = done.pages
        parameters = done.format.map(FormatObject.init)
        notChecked = UncheckedLines.object(done.unchecked)
    }

    static func lines(_ done: RewriteResult) -> [(String, String)] {
        var lines = [("format", done.format?.nameAndDifferences ?? "plaintext")]
        if let previous = done.previousFormat, previous != done.format {
            lines.append(("format before", "\(previous)"))
        }
        if done.previousFormat != nil, done.previousFormat?.pageAuthentication == nil {
            lines.append(FormatObject.noteOnMissingMACs)
        }
        if done.format?.pageAuthentication == nil, done.format != nil { lines.append(FormatObject.noteOnMACs) }
        return lines + [("pages", "\(done.pages) of \(done.pageSize) bytes")] + UncheckedLines.of(done.unchecked)
    }
}

/// Nothing had to be done.
private struct NotNeeded: Encodable {
    let note: String
    let ok = true
}

/// Ends a dry run.
private struct DryRun: Error {
    let plan: RewritePlan
}

/// A plan as a dry run prints it.
private struct PlanObject: Encodable {
    let dryRun = true
    let fromFormat: Int?
    let format: Int?
    let pageSize: Int?
    let byPages: Bool
    let size: Int64
    let neededSpace: Int64
    let freeSpace: Int64
    let leftovers: [String]

    init(_ plan: RewritePlan) {
        fromFormat = plan.from?.version
        format = plan.to?.version
        pageSize = plan.to?.pageSize
        byPages = plan.isByPages
        size = plan.size
        neededSpace = plan.neededSpace
        freeSpace = plan.freeSpace
        leftovers = plan.leftovers
    }

    static func lines(_ plan: RewritePlan) -> [(String, String)] {
        [
            ("would write", plan.to?.description ?? "plaintext"),
            ("in place of", plan.from?.description ?? "plaintext"),
            ("how", plan.isByPages ? "page by page, on all cores" : "entry by entry, to pages of another size"),
            ("size", plan.size.counted("byte")),
            ("needs", "\(plan.neededSpace) of \(plan.freeSpace.counted("free byte"))"),
        ] + plan.leftovers.map { ("would remove", $0) }
    }
}
