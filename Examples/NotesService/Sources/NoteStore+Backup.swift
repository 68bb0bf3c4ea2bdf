import CipherDB
import Foundation
import Logging
import Rekeying

extension NoteStore {
    /// The generations of the last day, and the newest of each of the 30 days before.
    static let kept = RetentionPolicy(age: .seconds(86_400), days: 30)

    /// Stores each change of the notes in a repository, as long as it runs, and removes the generations that ``kept`` does not name.
    ///
    /// - Parameter location: A directory, or `rclone:REMOTE:PATH`.
    func backup(to location: String, _ logger: Logger) -> ContinuousBackup {
        let repository = BackupRepository(location)
        let pruning = Pruning()
        return ContinuousBackup(of: pool, to: repository) { event in
            switch event {
            case .stored(let generation):
                logger.debug("backed up", metadata: ["generation": "\(generation.number)"])
                guard pruning.isDue else { break }
                do {
                    let removed = try repository.prune(keeping: Self.kept).removed
                    if !removed.isEmpty { logger.info("backups were removed", metadata: ["count": "\(removed.count)"]) }
                } catch {
                    logger.error("no backups were removed", metadata: ["error": "\(error)"])
                }
            case .warned(let warning): logger.warning("the backup", metadata: ["warning": "\(warning)"])
            case .failed(let error): logger.error("the backup failed", metadata: ["error": "\(error)"])
            case .unchanged, .postponed: break
            }
        }
    }

    /// When generations are removed: once in ten minutes.
    private final class Pruning: @unchecked Sendable {
        // It holds because the backup calls its observer once at a time.
        private var next = ContinuousClock.now

        var isDue: Bool {
            guard ContinuousClock.now >= next else { return false }
            next = .now + .seconds(600)
            return true
        }
    }
}
