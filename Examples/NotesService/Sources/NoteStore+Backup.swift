import CipherDB
import Logging
import Rekeying

extension NoteStore {
    /// The newest 100 generations, and the newest of each of 30 days: a busy service makes one a second.
    static let kept = RetentionPolicy(newest: 100, days: 30)

    /// Stores each change of the notes in a repository, as long as it runs, and removes the generations that ``kept`` does not name.
    ///
    /// - Parameters:
    ///   - location: A directory, or `rclone:REMOTE:PATH`.
    ///   - keyring: Stored beside the notes: with the repository, its passphrase is enough on another machine.
    func backup(to location: String, keyring: UnlockedKeyring? = nil, _ logger: Logger) -> ContinuousBackup {
        ContinuousBackup(of: pool, to: BackupRepository(location), keyring: keyring, keeping: Self.kept) { event in
            switch event {
            case .stored(let generation):
                logger.debug("backed up", metadata: ["generation": "\(generation.number)"])
            case .warned(let warning): logger.warning("the backup", metadata: ["warning": "\(warning)"])
            case .failed(let error): logger.error("the backup failed", metadata: ["error": "\(error)"])
            case .unchanged, .postponed: break
            }
        }
    }
}
