import CipherSystem

/// How far the search for the format of a file is, on standard error: a line each second, after the first.
struct SearchProgress: Sendable {
    /// Whether nothing is shown.
    @TaskLocal static var isQuiet = false

    private let file: String
    private let shown = Lock(ContinuousClock.now)

    init(_ file: String) {
        self.file = file
    }

    func show(_ done: Int, _ all: Int) {
        guard !SearchProgress.isQuiet, done > 0 else { return }
        let isDue = shown.withLock { shown in
            guard ContinuousClock.now - shown >= .seconds(1) else { return false }
            shown = .now
            return true
        }
        guard isDue else { return }
        Output.tell("rekey: \(file): searching for the format, \(done) of \(all) derivations\n", clearing: true)
    }
}
