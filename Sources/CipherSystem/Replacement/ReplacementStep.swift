/// The steps by which a new file takes the place of an old one. A kill between two of them leaves the one or the other, whole.
package enum ReplacementStep: String, CaseIterable, Sendable {
    /// Remove what killed runs left.
    case removeLeftovers
    /// See that there is room for the new file.
    case checkSpace
    /// Make the new file beside the old one, for its owner alone, and lock it.
    case create
    /// Write the content.
    case write
    /// Read the content back.
    case verify
    /// Give the new file the owner, the group, the extended attributes and the mode of the old one.
    case adoptOwner
    /// Wait until the new file is on the disk.
    case sync
    /// Copy the old file to where it is to be kept.
    case keepOld
    /// See that the name is that of the old file still.
    case checkOld
    /// Remove what SQLite keeps beside the old file.
    case removeSideFiles
    /// Give the old file a hard link, by which it is found after a kill, and put back if another file gets its name.
    case linkOld
    /// Rename the new file over the old one. From here on the new file is in force.
    case rename
    /// Wait until the name is on the disk.
    case syncDirectory
    /// Overwrite and remove the old file.
    case eraseOld

    /// Those of a keyring.
    package static let ofKeyring: [ReplacementStep] = [
        .removeLeftovers, .create, .write, .adoptOwner, .sync, .checkOld, .linkOld, .rename, .syncDirectory,
    ]

    /// Those of a database.
    package static let ofDatabase = allCases

    /// Performs `steps` in order. A process that is forked meanwhile, by a closure that shows progress, does none of them, and undoes
    /// nothing: the files are its parent's.
    ///
    /// - Parameter undo: Called if a step fails before the new file is in force: it removes what was made.
    package static func perform(
        _ steps: [ReplacementStep],
        _ body: (ReplacementStep) throws -> Void,
        undo: () -> Void
    ) throws {
        var isReplaced = false
        let owner = OwnerProcess()
        for step in steps {
            do {
                try owner.check(.database)
                try body(step)
            } catch {
                if !isReplaced, owner.isCurrent { undo() }
                throw error
            }
            if step == .rename { isReplaced = true }
        }
    }
}

/// Keeps signals from ending the process while it has a new file that would be left.
///
/// The library handles no signals. A program that does says here how; others go on as they are.
package enum SignalHold {
    private static let holder = Lock<(@Sendable (_ begins: Bool) -> Void)?>(nil)

    /// - Parameter hold: Called with true before such a file is made, and with false when it has its name or is gone.
    package static func use(_ hold: @escaping @Sendable (_ begins: Bool) -> Void) {
        holder.withLock { $0 = hold }
    }

    package static func during<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let hold = holder.withLock { $0 }
        hold?(true)
        defer { hold?(false) }
        return try body()
    }
}
