/// A cause of an error with whatever comes with it: `catch KeyError.damaged`, `case .damaged:` in a `switch`, `error == .damaged`.
///
/// It is no error, so that two errors with different payloads never count as equal.
public struct ProblemPattern<Problem: Sendable>: Sendable {
    private let matches: @Sendable (Problem) -> Bool

    package init(_ matches: @escaping @Sendable (Problem) -> Bool) {
        self.matches = matches
    }

    // Where the type of the error is known, `.damaged` is a cause of that type only.
    /// Whether an error of any type has this cause, as a `catch` asks.
    @_disfavoredOverload
    public static func ~= (pattern: ProblemPattern, error: any Error) -> Bool {
        let problem: Any? = (error as? any ErrorWithPath)?.problem ?? (error as? KeySourceError)?.problem
        return (problem as? Problem).map(pattern.matches) ?? false
    }

    /// Whether this is the cause.
    public static func == (problem: Problem, pattern: ProblemPattern) -> Bool { pattern.matches(problem) }

    /// Whether this is not the cause.
    public static func != (problem: Problem, pattern: ProblemPattern) -> Bool { !pattern.matches(problem) }
}

extension ErrorWithPath where Problem: Sendable {
    /// Whether the error has this cause, as a `switch` asks.
    public static func ~= (pattern: ProblemPattern<Problem>, error: Self) -> Bool { error.problem == pattern }

    /// Whether the error has this cause.
    public static func == (error: Self, pattern: ProblemPattern<Problem>) -> Bool { error.problem == pattern }

    /// Whether the error has another cause.
    public static func != (error: Self, pattern: ProblemPattern<Problem>) -> Bool { error.problem != pattern }
}

extension KeySourceError {
    /// Whether the error has this cause, as a `switch` asks.
    public static func ~= (pattern: ProblemPattern<Problem>, error: Self) -> Bool { error.problem == pattern }

    /// Whether the error has this cause.
    public static func == (error: Self, pattern: ProblemPattern<Problem>) -> Bool { error.problem == pattern }

    /// Whether the error has another cause.
    public static func != (error: Self, pattern: ProblemPattern<Problem>) -> Bool { error.problem != pattern }
}
