import CipherSystem
import Foundation
import Rekeying

/// How far an operation is, on standard error: a bar with rate and time left, at a terminal only.
final class Progress {
    private let isQuiet: Bool
    private var stage: FileProgress.Stage?
    private var began = ContinuousClock.now
    private var shown = -1
    fileprivate static let isTerminal = isatty(STDERR_FILENO) == 1

    /// What takes the bar away again.
    static var clear: String { isTerminal ? "\r\u{1b}[K" : "" }

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    /// As ``show(_:)``, for what is no database.
    func show(_ stage: FileProgress.Stage, done: Int64, all: Int64) throws {
        try show(FileProgress(stage, done: done, all: all))
    }

    /// Shows it, and throws where the user has asked to stop.
    func show(_ progress: FileProgress) throws {
        // Until now, and while a secret is asked for, a signal just ends the process.
        if stage == nil { Interruption.watch() }
        if Interruption.isWanted { throw Interrupted() }
        if stage != progress.stage {
            stage = progress.stage
            began = .now
            shown = -1
        }
        guard !isQuiet, Progress.isTerminal, progress.all > 1 else { return }
        let percent = Int(progress.done * 100 / progress.all)
        guard percent != shown else { return }
        shown = percent
        write("\r\(bar(progress, percent))\u{1b}[K")
        if progress.done == progress.all { write(Progress.clear) }
    }

    private func bar(_ progress: FileProgress, _ percent: Int) -> String {
        let bar = String(repeating: "█", count: percent / 4) + String(repeating: "░", count: 25 - percent / 4)
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        guard seconds > 0.2 else { return "\(progress.stage.rawValue) \(bar) \(percent) %" }
        let rate = Double(progress.done) / seconds
        let left = Int((Double(progress.all - progress.done) / rate).rounded(.up))
        return "\(progress.stage.rawValue) \(bar) \(percent) %  \(Int(rate / 1e6)) MB/s  \(left / 60):"
            + (left % 60 < 10 ? "0" : "") + "\(left % 60) left"
    }

    private func write(_ text: String) {
        Output.show(bar: text)
    }
}

/// How far the search for the format of a file is, on standard error, after a second: a line each second at a terminal, else one.
struct SearchProgress: Sendable {
    /// Whether nothing is shown.
    @TaskLocal static var isQuiet = false

    private let file: String
    /// When it was shown last; nil where it is not shown again.
    private let shown = Lock<ContinuousClock.Instant?>(.now)

    init(_ file: String) {
        self.file = file
    }

    func show(_ done: Int, _ all: Int) {
        guard !SearchProgress.isQuiet, done > 0 else { return }
        let isDue = shown.withLock { shown in
            guard let last = shown, ContinuousClock.now - last >= .seconds(1) else { return false }
            shown = Progress.isTerminal ? .now : nil
            return true
        }
        guard isDue else { return }
        Output.tell("rekey: \(file): searching for the format, \(done) of \(all) derivations\n", clearing: true)
    }
}
