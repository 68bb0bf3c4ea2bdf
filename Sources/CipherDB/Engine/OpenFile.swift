internal import CipherSystem

/// That a connection of this process has a database file open, for as long as it lives.
///
/// The engine knows by file which locks its process holds, and a forked child inherits that knowledge but not the locks. A connection of its
/// own to such a file would go without them, and lose commits when the parent closes.
final class OpenFile {
    private struct Entry {
        let owner: OwnerProcess
        var count: Int
    }

    private static let entries = Lock<[[UInt64]: Entry]>([:])
    private let identity: [UInt64]
    private let owner = OwnerProcess()

    /// Nil where there is no file at the path.
    init?(_ path: String) {
        guard let identity = try? Platform.status(of: path).identity else { return nil }
        self.identity = identity
        OpenFile.entries.withLock { $0[identity, default: Entry(owner: owner, count: 0)].count += 1 }
    }

    deinit {
        // Who forks has the file open for ever, as far as the child's engine knows.
        guard owner.isCurrent else { return }
        OpenFile.entries.withLock { entries in
            guard let count = entries[identity]?.count else { return }
            if count > 1 { entries[identity]?.count -= 1 } else { entries[identity] = nil }
        }
    }

    /// How many connections of this process have the file open.
    static func count(_ path: String) -> Int {
        guard let identity = try? Platform.status(of: path).identity else { return 0 }
        return entries.withLock { $0[identity]?.count ?? 0 }
    }

    /// Throws where the file was open when this process was forked.
    static func checkIsNotOfParent(_ path: String) throws {
        guard let identity = try? Platform.status(of: path).identity else { return }
        try OpenFile.entries.withLock { try $0[identity]?.owner.check(.database) }
    }
}
