internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An error of a keyring.
///
/// ``KeyringError/wrongSecret`` and its like are there to be compared with: `catch KeyringError.wrongSecret`, `error == .missing`. A cause
/// that comes with something, such as ``Problem/damaged(offset:)``, is matched without it: `catch KeyringError.damaged`.
public struct KeyringError: ErrorWithPath, Sendable {
    /// The causes.
    public enum Problem: Equatable, Sendable {
        /// The system failed, with this `errno`.
        case system(Int32)
        /// The new content is in force, but the system failed, with this `errno`, before its name was on the disk: after a power
        /// failure the content from before may be back.
        case notSynced(Int32)
        /// Nothing stands there.
        case missing
        /// No regular file.
        case notAFile
        /// The file does not begin as a keyring does.
        case notAKeyring
        /// The file is not as it was written; at this offset it makes no sense, or as a whole.
        case damaged(offset: Int?)
        /// The keyring is of a version that this library does not know.
        case unknownVersion(Int)
        /// No slot of the kind opens with this secret.
        case wrongSecret
        /// The secret is right, but somebody without it has altered the keyring.
        case altered
        /// Trying all slots would take too long: name one.
        case tooManySlots
        /// The slot with this number asks for a derivation that this library does not do: unknown, or too costly.
        case unusableSlot(Int)
        /// No slot that was looked at has a command.
        case noCommand
        /// The slot with this number has a command that the caller did not allow. Nobody has proved that its owner wrote it.
        case commandNotAllowed(slot: Int, SecretCommand)
        /// Somebody else changed the slot meanwhile.
        case slotChanged(Int)
        /// There is no slot with this number.
        case noSuchSlot(Int)
        /// No slot has this label.
        case noSuchLabel(String)
        /// Several slots have the label, these: name one by its number.
        case labelNotUnique(slots: [Int])
        /// Without this slot no passphrase and no recovery code would open the keyring.
        case lastSlot
        /// A keyring has 32 slots, 255 retired keys and 64 KiB at most.
        case full
        /// What was typed is another code than the one shown.
        case notConfirmed
        /// A recovery code is added only when it was typed back.
        case notTypedBack
        /// The slot with this number opens with the new secret already.
        case secretInUse(slot: Int)
        /// The only slot of a keyring is never removed.
        case onlySlot
        /// A file of this name exists.
        case exists
        /// Another process changes the keyring, or rotates its key.
        case busy
        /// The keyring was replaced by another one since it was unlocked.
        case replaced
        /// A label has 128 bytes at most, and no control characters.
        case unusableLabel
        /// A change of key is under way; resume or cancel it.
        case rotationPending
        /// No change of key is under way.
        case noRotationPending
        /// The database is under no key of the keyring.
        case otherDatabase
        /// The keyring has hard links, which would keep the old content.
        case severalNames
        /// The keyring cannot be written: the new file cannot get this owner or this group of the old one.
        case ownership(owner: String?, group: String?)
        /// The database is under a key that was retired at this time: an old copy, unless the keyring is the old copy.
        case oldDatabase(retired: Date)
        /// Another database uses the keyring.
        case inUse
        /// The database was last used with a newer copy of this keyring, which had this generation.
        case outdated(generation: UInt64)
        /// Another program has altered what the database remembers of the keyring.
        case recordAltered
        /// The database that the keyring was used for is missing.
        case databaseMissing
        /// The keys in the keyring are not those in the backup that would replace it.
        case otherKeys
        /// The keyring is missing, and this database, which may be under it, is not.
        case lost(database: String)
    }

    /// The path of the keyring; empty in a value to compare with, such as ``wrongSecret``.
    public let path: String
    /// The cause.
    public let problem: Problem

    package init(path: String, problem: Problem) {
        self.path = path
        self.problem = problem
    }

    /// An error of what knows no path; the call that knows it names it.
    package init(_ problem: Problem) {
        self.init(path: "", problem: problem)
    }

    /// With the path, where there is none yet.
    package func naming(_ path: String) -> KeyringError {
        self.path.isEmpty ? KeyringError(path: path, problem: problem) : self
    }

    /// Names the keyring at `path` in what a call of the system throws.
    static func naming<Result>(
        _ path: String,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(KeyringError) -> Result {
        do {
            return try call()
        } catch .noSuchFile {
            throw KeyringError(path: path, problem: .missing)
        } catch {
            throw KeyringError(path: path, problem: .system(error.code))
        }
    }
}

extension KeyringError: CustomStringConvertible {
    /// A sentence with the path and what to do.
    public var description: String { (path.isEmpty ? "" : "\(path): ") + sentence }

    private var sentence: String {
        switch problem {
        case .system(let code): "\(Errno(code: code))"
        case .notSynced(let code):
            "the keyring was written, but could not be synced and may be lost by a power failure: \(Errno(code: code)); keep the previous secret"
        case .missing: "no such file; create a keyring, or restore it from a backup"
        case .notAFile: "not a regular file"
        case .notAKeyring: "not a keyring; if it was one, restore it from a backup"
        case .damaged(let offset?): "the keyring is damaged at offset \(offset); restore it from a backup"
        case .damaged(nil): "the keyring is damaged; restore it from a backup"
        case .unknownVersion(let version) where version < 1:
            "no keyring has the version \(version); restore it from a backup"
        case .unknownVersion(let version): "a keyring of the newer version \(version); a newer CipherDB is needed"
        case .wrongSecret: "wrong secret: no slot that was tried opens with it"
        case .altered: "the secret is right, but the keyring was altered without one; restore it from a backup"
        case .tooManySlots:
            "trying all slots would take too long; give the number of the slot"
        case .unusableSlot(let number):
            "wrong secret; slot \(number) could not be tried, because its KDF is unknown or too costly"
        case .noCommand: "no slot that was tried has a command"
        case .commandNotAllowed(let number, let command):
            "slot \(number) has a command that was not allowed, and was not run: \(command)"
        case .slotChanged(let number): "slot \(number) was changed by another process meanwhile; nothing was changed"
        case .noSuchSlot(let number): "the keyring has no slot \(number)"
        case .noSuchLabel(let label): "the keyring has no slot with the label “\(label)”"
        case .labelNotUnique(let slots):
            "slots \(slots.map(String.init).joined(separator: " and ")) have this label; name the slot by its number (slot:)"
        case .lastSlot:
            "no passphrase or recovery code would remain; add one first"
        case .onlySlot: "the only slot cannot be removed; to destroy the data, erase the keyring"
        case .full:
            "the keyring is full (32 slots, 255 retired keys, 64 KiB); remove a slot, or the retired keys once no backup "
                + "needs them"
        case .notConfirmed: "the typed recovery code differs; nothing was added"
        case .notTypedBack: "a recovery code must be typed back: use add(_:typedBack:)"
        case .secretInUse(let number): "slot \(number) already opens with this secret; nothing was changed"
        case .exists: "exists already"
        case .busy: "another process is changing the keyring; try again"
        case .replaced: "the file is not the keyring that was unlocked; unlock it again"
        case .unusableLabel: "a label has at most 128 bytes and no control characters"
        case .rotationPending:
            "a rotation is pending; open the database for writing, or resume or cancel the rotation"
        case .noRotationPending: "no rotation is pending"
        case .otherDatabase:
            "the database is under no key of the keyring: it is another database, one of the two is an old copy, its first page "
                + "was overwritten, or the database must be moved to a keyring first"
        case .oldDatabase(let retired):
            "the database is an old copy: it is under a key that was retired on \(retired.day); "
                + "to use the copy, adopt its key"
        case .severalNames:
            "the keyring has hard links, which would keep the old content; remove them"
        case .ownership(let owner, let group):
            MissingOwnership(owner: owner, group: group).refusal
        case .inUse:
            "the keyring is in use by another database; create another keyring"
        case .outdated(let generation):
            "an old copy of the keyring: the database was used with sequence number \(generation); restore "
                + "the newest keyring, or accept the old copy (acceptsOldCopies)"
        case .recordAltered:
            "another program altered the table `cipherdb_keyring`, by which old copies of the keyring are detected; if the "
                + "keyring is the newest, rewrite the table (acceptsOldCopies)"
        case .databaseMissing:
            "the database of the keyring is missing; for a new database create a new keyring"
        case .otherKeys:
            "the key of the database was changed since the backup; the present keyring opens the database, the backup may not"
        case .lost(let database):
            "no such keyring, but the database \(database) is there: restore the keyring from a backup (`rekey keyring restore`); "
                + "a database with a key of its own needs `rekey keyring init`; without a backup or a key nobody can open it, and a new "
                + "database needs another path"
        }
    }
}

extension KeyringError {
    /// Whether the file could not be written or locked.
    package var isOfTheSystem: Bool {
        switch problem {
        case .system, .notSynced, .busy, .severalNames, .ownership: true
        default: false
        }
    }

    /// Whether what was written is in force all the same.
    var isInForce: Bool {
        if case .notSynced = problem { true } else { false }
    }

    /// Whether the file began as a keyring does.
    var isOfAKeyring: Bool {
        switch problem {
        case .damaged, .unknownVersion: true
        default: false
        }
    }

    /// Whether nothing in the file can be read, as after a power failure.
    var isDamage: Bool {
        switch problem {
        case .damaged, .notAKeyring: true
        default: false
        }
    }
}

extension Date {
    /// The day by UTC, as ISO 8601 has it.
    package var day: String { formatted(.iso8601.year().month().day()) }
}
