// Causes to match errors by, whatever the source: `catch KeySourceError.missing`.
extension KeySourceError {
    /// Matches errors with ``Problem/system(_:)``, whatever comes with it.
    public static let system = ProblemPattern<Problem>.system
    /// Matches errors with ``Problem/notAFile``, of any source.
    public static let notAFile = ProblemPattern<Problem>.notAFile
    /// Matches errors with ``Problem/othersCanRead(mode:)``, whatever comes with it.
    public static let othersCanRead = ProblemPattern<Problem>.othersCanRead
    /// Matches errors with ``Problem/missing``, of any source.
    public static let missing = ProblemPattern<Problem>.missing
    /// Matches errors with ``Problem/tooLarge``, of any source.
    public static let tooLarge = ProblemPattern<Problem>.tooLarge
    /// Matches errors with ``Problem/noTerminal``, of any source.
    public static let noTerminal = ProblemPattern<Problem>.noTerminal
    /// Matches errors with ``Problem/notConfirmed``, of any source.
    public static let notConfirmed = ProblemPattern<Problem>.notConfirmed
    /// Matches errors with ``Problem/endOfInput``, of any source.
    public static let endOfInput = ProblemPattern<Problem>.endOfInput
    /// Matches errors with ``Problem/leadsElsewhere``, of any source.
    public static let leadsElsewhere = ProblemPattern<Problem>.leadsElsewhere
    /// Matches errors with ``Problem/ofAnotherUser``, of any source.
    public static let ofAnotherUser = ProblemPattern<Problem>.ofAnotherUser
    /// Matches errors with ``Problem/commandFailed(status:)``, whatever comes with it.
    public static let commandFailed = ProblemPattern<Problem>.commandFailed
    /// Matches errors with ``Problem/timedOut(_:)``, whatever comes with it.
    public static let timedOut = ProblemPattern<Problem>.timedOut
    /// Matches errors with ``Problem/notRepeatable``, of any source.
    public static let notRepeatable = ProblemPattern<Problem>.notRepeatable
    /// Matches errors with ``Problem/notHere``, of any source.
    public static let notHere = ProblemPattern<Problem>.notHere
    /// Matches errors with ``Problem/keychain(_:)``, whatever comes with it.
    public static let keychain = ProblemPattern<Problem>.keychain
}

extension ProblemPattern where Problem == KeySourceError.Problem {
    /// Matches ``KeySourceError/Problem/system(_:)``, whatever comes with it.
    public static var system: ProblemPattern { ProblemPattern { if case .system = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/notAFile``.
    public static var notAFile: ProblemPattern { ProblemPattern { if case .notAFile = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/othersCanRead(mode:)``, whatever comes with it.
    public static var othersCanRead: ProblemPattern {
        ProblemPattern { if case .othersCanRead = $0 { true } else { false } }
    }
    /// Matches ``KeySourceError/Problem/missing``.
    public static var missing: ProblemPattern { ProblemPattern { if case .missing = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/tooLarge``.
    public static var tooLarge: ProblemPattern { ProblemPattern { if case .tooLarge = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/noTerminal``.
    public static var noTerminal: ProblemPattern { ProblemPattern { if case .noTerminal = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/notConfirmed``.
    public static var notConfirmed: ProblemPattern {
        ProblemPattern { if case .notConfirmed = $0 { true } else { false } }
    }
    /// Matches ``KeySourceError/Problem/endOfInput``.
    public static var endOfInput: ProblemPattern { ProblemPattern { if case .endOfInput = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/leadsElsewhere``.
    public static var leadsElsewhere: ProblemPattern {
        ProblemPattern { if case .leadsElsewhere = $0 { true } else { false } }
    }
    /// Matches ``KeySourceError/Problem/ofAnotherUser``.
    public static var ofAnotherUser: ProblemPattern {
        ProblemPattern { if case .ofAnotherUser = $0 { true } else { false } }
    }
    /// Matches ``KeySourceError/Problem/commandFailed(status:)``, whatever comes with it.
    public static var commandFailed: ProblemPattern {
        ProblemPattern { if case .commandFailed = $0 { true } else { false } }
    }
    /// Matches ``KeySourceError/Problem/timedOut(_:)``, whatever comes with it.
    public static var timedOut: ProblemPattern { ProblemPattern { if case .timedOut = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/notRepeatable``.
    public static var notRepeatable: ProblemPattern {
        ProblemPattern { if case .notRepeatable = $0 { true } else { false } }
    }
    /// Matches ``KeySourceError/Problem/notHere``.
    public static var notHere: ProblemPattern { ProblemPattern { if case .notHere = $0 { true } else { false } } }
    /// Matches ``KeySourceError/Problem/keychain(_:)``, whatever comes with it.
    public static var keychain: ProblemPattern { ProblemPattern { if case .keychain = $0 { true } else { false } } }
}
