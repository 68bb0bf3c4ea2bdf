public import CipherKeys

// Causes that come with something, to match errors by the cause alone.
extension KeyError {
    /// Matches errors with ``Problem/damaged(pages:)``, whatever comes with it.
    public static let damaged = ProblemPattern<Problem>.damaged
    /// Matches errors with ``Problem/otherFormat(_:)``, whatever comes with it.
    public static let otherFormat = ProblemPattern<Problem>.otherFormat
    /// Matches errors with ``Problem/withoutMACs(_:)``, whatever comes with it.
    public static let withoutMACs = ProblemPattern<Problem>.withoutMACs
}

extension ProblemPattern where Problem == KeyError.Problem {
    /// Matches ``KeyError/Problem/damaged(pages:)``, whatever comes with it.
    public static var damaged: ProblemPattern { ProblemPattern { if case .damaged = $0 { true } else { false } } }
    /// Matches ``KeyError/Problem/otherFormat(_:)``, whatever comes with it.
    public static var otherFormat: ProblemPattern {
        ProblemPattern { if case .otherFormat = $0 { true } else { false } }
    }
    /// Matches ``KeyError/Problem/withoutMACs(_:)``, whatever comes with it.
    public static var withoutMACs: ProblemPattern {
        ProblemPattern { if case .withoutMACs = $0 { true } else { false } }
    }
}
