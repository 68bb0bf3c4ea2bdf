/// The progress of an operation on a file.
public struct FileProgress: Sendable, Equatable {
    /// The stages of an operation; not every operation has all.
    public enum Stage: String, Sendable {
        /// The pages of the file are authenticated.
        case checking
        /// The new file is written.
        case writing
        /// The pages of the new file are authenticated.
        case verifying
        /// The old file is copied, to be kept.
        case keeping
        /// The old file is overwritten.
        case erasing
        /// The database is read, and what has changed is stored in a repository.
        case storing
        /// The blocks of a repository are written to the new file.
        case restoring
    }

    /// What is being done.
    public let stage: Stage
    /// Bytes of the stage that are done.
    public let done: Int64
    /// Bytes of the stage in all.
    public let all: Int64

    package init(_ stage: Stage, done: Int64, all: Int64) {
        self.stage = stage
        self.done = done
        self.all = all
    }

    /// For what counts pages of `size` bytes.
    init(_ stage: Stage, pages done: Int, of all: Int, size: Int) {
        self.init(stage, done: Int64(done) * Int64(size), all: Int64(all) * Int64(size))
    }
}
