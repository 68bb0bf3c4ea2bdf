/// Gives a new file the name of an old one, in a directory to which others may write.
///
/// There a name says little: another user can give it to a file of his own at any moment. So what has a name is compared with the files
/// that are open, directly before the call and directly after it.
package struct FileExchange {
    /// Which file has the name afterwards.
    package enum Outcome: Equatable {
        case new
        /// The old one, still or again: somebody had replaced one of the two. The path is that of the other file, if it had
        /// the name meanwhile.
        case old(other: String?)
        /// Another file, and the old one could not be put back. The path is where the old one stands; nil where that is not known.
        case other(old: String?)
    }

    /// The name that the new file has, and that it gets.
    private let new: String, name: String
    private let newIdentity: [UInt64], oldIdentity: [UInt64]
    /// A hard link of the old file.
    private let link: String?

    /// - Parameters:
    ///   - newIdentity: That of the new file, which must be open or pinned.
    ///   - oldIdentity: That of the old file, which must be open.
    package init(_ new: String, _ newIdentity: [UInt64], over name: String, _ oldIdentity: [UInt64], link: String?) {
        (self.new, self.newIdentity, self.name, self.oldIdentity, self.link) = (
            new, newIdentity, name, oldIdentity, link
        )
    }

    /// Renames the new file, and puts the old one back if another one came in between.
    ///
    /// - Throws: what the call throws; nothing has changed then.
    package func run() throws(Errno) -> Outcome {
        guard Platform.has(name: name, oldIdentity), Platform.has(name: new, newIdentity) else {
            return .old(other: nil)
        }
        try FileCalls.rename(new, over: name)
        return Platform.has(name: name, newIdentity) ? .new : putBack()
    }

    private func putBack() -> Outcome {
        guard let link, Platform.has(name: link, oldIdentity) else { return .other(old: nil) }
        // Not lost, whose ever it is; and not as a leftover, which the next run would remove.
        let other = TemporaryName.foreign.path(beside: name)
        let isKept = (try? FileCalls.link(name, as: other)) != nil
        if (try? FileCalls.rename(link, over: name)) != nil, Platform.has(name: name, oldIdentity) {
            return .old(other: isKept ? other : nil)
        }
        let old = TemporaryName.foreign.path(beside: name)
        return .other(old: (try? FileCalls.rename(link, over: old)) != nil ? old : nil)
    }
}
