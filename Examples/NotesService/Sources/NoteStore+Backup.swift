import CipherDB
import Logging
import Rekeying

extension NoteStore {
    /// Stores each change of the notes in a repository, as long as it runs.
    ///
    /// - Parameter location: A directory, or `rclone:REMOTE:PATH`.
    func backup(to location: String, _ logger: Logger) -> ContinuousBackup {
        ContinuousBackup(of: pool, to: BackupRepository(location)) { event in
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
