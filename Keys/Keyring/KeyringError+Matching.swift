// Causes that come with something, to match errors by the cause alone.
extension KeyringError {
    /// Matches errors with ``Problem/system(_:)``, whatever comes with it.
    public static let system = ProblemPattern<Problem>.system
    /// Matches errors with ``Problem/notSynced(_:)``, whatever comes with it.
    public static let notSynced = ProblemPattern<Problem>.notSynced
    /// Matches errors with ``Problem/damaged(offset:)``, whatever comes with it.
    public static let damaged = ProblemPattern<Problem>.damaged
    /// Matches errors with ``Problem/unknownVersion(_:)``, whatever comes with it.
    public static let unknownVersion = ProblemPattern<Problem>.unknownVersion
    /// Matches errors with ``Problem/unusableSlot(_:)``, whatever comes with it.
    public static let unusableSlot = ProblemPattern<Problem>.unusableSlot
    /// Matches errors with ``Problem/commandNotAllowed(slot:_:)``, whatever comes with it.
    public static let commandNotAllowed = ProblemPattern<Problem>.commandNotAllowed
    /// Matches errors with ``Problem/slotChanged(_:)``, whatever comes with it.
    public static let slotChanged = ProblemPattern<Problem>.slotChanged
    /// Matches errors with ``Problem/noSuchSlot(_:)``, whatever comes with it.
    public static let noSuchSlot = ProblemPattern<Problem>.noSuchSlot
    /// Matches errors with ``Problem/noSuchLabel(_:)``, whatever comes with it.
    public static let noSuchLabel = ProblemPattern<Problem>.noSuchLabel
    /// Matches errors with ``Problem/labelNotUnique(slots:)``, whatever comes with it.
    public static let labelNotUnique = ProblemPattern<Problem>.labelNotUnique
    /// Matches errors with ``Problem/secretInUse(slot:)``, whatever comes with it.
    public static let secretInUse = ProblemPattern<Problem>.secretInUse
    /// Matches errors with ``Problem/ownership(owner:group:)``, whatever comes with it.
    public static let ownership = ProblemPattern<Problem>.ownership
    /// Matches errors with ``Problem/oldDatabase(retired:)``, whatever comes with it.
    public static let oldDatabase = ProblemPattern<Problem>.oldDatabase
    /// Matches errors with ``Problem/outdated(generation:)``, whatever comes with it.
    public static let outdated = ProblemPattern<Problem>.outdated
    /// Matches errors with ``Problem/lost(database:)``, whatever comes with it.
    public static let lost = ProblemPattern<Problem>.lost
}

extension ProblemPattern where Problem == KeyringError.Problem {
    /// Matches ``KeyringError/Problem/system(_:)``, whatever comes with it.
    public static var system: ProblemPattern { ProblemPattern { if case .system = $0 { true } else { false } } }
    /// Matches ``KeyringError/Problem/notSynced(_:)``, whatever comes with it.
    public static var notSynced: ProblemPattern { ProblemPattern { if case .notSynced = $0 { true } else { false } } }
    /// Matches ``KeyringError/Problem/damaged(offset:)``, whatever comes with it.
    public static var damaged: ProblemPattern { ProblemPattern { if case .damaged = $0 { true } else { false } } }
    /// Matches ``KeyringError/Problem/unknownVersion(_:)``, whatever comes with it.
    public static var unknownVersion: ProblemPattern {
        ProblemPattern { if case .unknownVersion = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/unusableSlot(_:)``, whatever comes with it.
    public static var unusableSlot: ProblemPattern {
        ProblemPattern { if case .unusableSlot = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/commandNotAllowed(slot:_:)``, whatever comes with it.
    public static var commandNotAllowed: ProblemPattern {
        ProblemPattern { if case .commandNotAllowed = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/slotChanged(_:)``, whatever comes with it.
    public static var slotChanged: ProblemPattern {
        ProblemPattern { if case .slotChanged = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/noSuchSlot(_:)``, whatever comes with it.
    public static var noSuchSlot: ProblemPattern { ProblemPattern { if case .noSuchSlot = $0 { true } else { false } } }
    /// Matches ``KeyringError/Problem/noSuchLabel(_:)``, whatever comes with it.
    public static var noSuchLabel: ProblemPattern {
        ProblemPattern { if case .noSuchLabel = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/labelNotUnique(slots:)``, whatever comes with it.
    public static var labelNotUnique: ProblemPattern {
        ProblemPattern { if case .labelNotUnique = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/secretInUse(slot:)``, whatever comes with it.
    public static var secretInUse: ProblemPattern {
        ProblemPattern { if case .secretInUse = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/ownership(owner:group:)``, whatever comes with it.
    public static var ownership: ProblemPattern { ProblemPattern { if case .ownership = $0 { true } else { false } } }
    /// Matches ``KeyringError/Problem/oldDatabase(retired:)``, whatever comes with it.
    public static var oldDatabase: ProblemPattern {
        ProblemPattern { if case .oldDatabase = $0 { true } else { false } }
    }
    /// Matches ``KeyringError/Problem/outdated(generation:)``, whatever comes with it.
    public static var outdated: ProblemPattern { ProblemPattern { if case .outdated = $0 { true } else { false } } }
    /// Matches ``KeyringError/Problem/lost(database:)``, whatever comes with it.
    public static var lost: ProblemPattern { ProblemPattern { if case .lost = $0 { true } else { false } } }
}
