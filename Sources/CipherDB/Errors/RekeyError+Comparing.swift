// Values to compare an error with: they have no path, and are not thrown.
extension RekeyError {
    /// To compare with an error; see ``Problem/notStarted(_:)``.
    public static let notStarted = RekeyError(path: nil, problem: .notStarted(""))
    /// To compare with an error; see ``Problem/notNeeded(_:)``.
    public static let notNeeded = RekeyError(path: nil, problem: .notNeeded(""))
    /// To compare with an error; see ``Problem/sameKey``.
    public static let sameKey = RekeyError(path: nil, problem: .sameKey)
    /// To compare with an error; see ``Problem/saltDiffers``.
    public static let saltDiffers = RekeyError(path: nil, problem: .saltDiffers)
    /// To compare with an error; see ``Problem/oldKeyInForce(_:)``.
    public static let oldKeyInForce = RekeyError(path: nil, problem: .oldKeyInForce(nil))
    /// To compare with an error; see ``Problem/checkpointPending``.
    public static let checkpointPending = RekeyError(path: nil, problem: .checkpointPending)
    /// To compare with an error; see ``Problem/oldFileRemains(path:_:)``.
    public static let oldFileRemains = RekeyError(
        path: nil,
        problem: .oldFileRemains(path: nil, DatabaseError(.misuse, ""))
    )
    /// To compare with an error; see ``Problem/newKeyInForce(_:)``.
    public static let newKeyInForce = RekeyError(path: nil, problem: .newKeyInForce(DatabaseError(.misuse, "")))
    /// To compare with an error; see ``Problem/undecided(_:)``.
    public static let undecided = RekeyError(path: nil, problem: .undecided(DatabaseError(.misuse, "")))
}
