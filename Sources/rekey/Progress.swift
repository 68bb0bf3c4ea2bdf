import Foundation

/// A line at the terminal that shows how far an operation is; nothing where standard error is no terminal.
struct Progress {
    private let title: String
    private var shown = -1
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    /// What takes the line away again.
    static var clear: String { isTerminal ? "\r\u{1b}[K" : "" }

    init(_ title: String) {
        self.title = title
    }

    mutating func show(_ done: Int, of all: Int) {
        guard Progress.isTerminal, all > 0 else { return }
        let percent = done * 100 / all
        guard percent != shown else { return }
        shown = percent
        let bar = String(repeating: "█", count: percent / 4) + String(repeating: "░", count: 25 - percent / 4)
        let end = done == all ? Progress.clear : ""
        FileHandle.standardError.write(Data("\r\(title) \(bar) \(percent) %\(end)".utf8))
    }
}
