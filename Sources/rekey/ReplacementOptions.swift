import ArgumentParser
import CipherDB
import Rekeying

/// How the old file is treated when a new one takes its place.
struct ReplacementOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Keep a copy of the old file here, on the same disk.", valueName: "path"))
    var keepOld: String?

    /// One path cannot be that of several copies.
    func check(_ files: [String]) throws {
        if keepOld != nil, files.count > 1 { throw ValidationError("--keep-old goes with one file.") }
    }
}

/// A replacement as the commands print it.
struct ReplacementObject: Encodable {
    let format: Int?
    let pageSize: Int
    let pages: Int
    let ok = true

    init(_ done: Rewritten) {
        format = done.format?.version
        pageSize = done.pageSize
        pages = done.pages
    }

    static func lines(_ done: Rewritten) -> [(String, String)] {
        [
            ("format", done.format.map { "SQLCipher \($0.version)" } ?? "plaintext"),
            ("pages", "\(done.pages) of \(done.pageSize) bytes"),
        ]
    }
}
