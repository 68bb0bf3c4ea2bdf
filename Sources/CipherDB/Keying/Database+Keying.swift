public import CipherKeys
internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Database {
    /// Sets the key of a database that was opened and not used yet, and verifies it by a test SELECT.
    ///
    /// A new file is written to, so that the key is in force from here on. A connection is keyed once: after a failure it
    /// is closed, the file is as it was, and an empty file that this opening made is removed again.
    ///
    /// - Throws: ``KeyError`` with the cause; ``DatabaseError``.
    public func setKey(_ key: DatabaseKey) throws {
        try keyConnection { try $0.unlock(key) }
    }

    /// Sets the key from text, as SQLCipher's `PRAGMA key` reads it: a passphrase, or a raw key written `x'…'`.
    ///
    /// - Throws: ``MalformedKey`` for an empty passphrase or a malformed raw key; else as ``setKey(_:)-(DatabaseKey)``.
    public func setKey(_ key: String) throws {
        try setKey(.engineBytes(SecretBytes(utf8: key)))
    }

    /// Sets the key from bytes, as SQLCipher's `sqlite3_key` reads them: a passphrase of any bytes, or a raw key
    /// written `x'…'`. Thirty-two bytes are a passphrase too; a raw key is `DatabaseKey.raw`.
    ///
    /// - Throws: ``MalformedKey`` for no bytes or a malformed raw key; else as ``setKey(_:)-(DatabaseKey)``.
    public func setKeyWithData(_ key: Data) throws {
        try setKey(.engineBytes(key.withUnsafeBytes { try SecretBytes(copying: $0) }))
    }

    /// Sets a key that an earlier connection to this file verified, or that was derived for it.
    ///
    /// - Parameter makesNew: Whether an empty file becomes a database under it.
    package func unlock(_ known: VerifiedKey, makesNew: Bool = false) throws {
        try keyConnection { try $0.unlock(known, makesNew: makesNew) }
    }

    func keyConnection(_ unlock: (UnkeyedFile) throws -> VerifiedKey) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard case .unkeyed(var file) = state else { throw DatabaseError(.misuse, keyingMisuse) }
        let wait = LockWait.current(or: .milliseconds(busyMilliseconds))
        while true {
            do {
                state = .keyed(file.connection, try unlock(file))
                return try finishOpening()
            } catch is UnkeyedFile.MadeMeanwhile where wait.mayTryAgain() {
                state = .closed
                file = try file.reopened()
                state = .unkeyed(file)
            } catch is UnkeyedFile.MadeMeanwhile {
                close()
                throw DatabaseError(.busy, "\(file.filePath): others go on making the file at the same time; try again")
            } catch {
                close()
                throw error
            }
        }
    }

    private var keyingMisuse: String {
        switch state {
        case .closed: "open the database before setting its key"
        case .plain where path == nil || path == "":
            "a database in memory is never written to disk and takes no key; save it by backup(to:key:)"
        default:
            "a connection is keyed once, by the call that opens it or right after it, before prepareDatabase runs; "
                + "close and open it to use another key"
        }
    }

    /// Opens the file again, under a key that was verified.
    func reopened(_ path: String, _ known: VerifiedKey, _ flags: OpenFlags) throws -> Connection {
        let file = try UnkeyedFile(
            DatabaseLocation(path, flags),
            configuration,
            busyMilliseconds: busyMilliseconds,
            turn: turn
        )
        do {
            _ = try file.unlock(known, makesNew: false)
        } catch {
            file.close()
            throw error
        }
        return file.connection
    }
}

/// Where the key of an open database comes from.
enum KeyOrigin {
    case program
    /// A change of the key past the keyring would make the keyring useless.
    case keyring
    /// The keyring has both keys now.
    case rotation
}
