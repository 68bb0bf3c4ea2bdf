public import CipherBackup

/// What one look of a ``ContinuousBackup`` found.
public enum BackupEvent: Sendable {
    /// The database has changed, and this generation has the changes.
    case stored(Generation)
    /// Something was noticed in the repository, in the same look as what follows.
    case warned(BackupWarning)
    /// The newest generation has the whole database.
    case unchanged
    /// The database has changed so that it has to be read whole, and was read whole a short time ago: a later look stores it.
    case postponed
    /// The look failed. The next one comes after a pause, which grows with each failure up to 32 seconds.
    case failed(any Error)
}
