internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An error of a keyring: `catch KeyringError.wrongSecret`.
public struct KeyringError: CodedError {
    /// The cause.
    public let code: ErrorCode<KeyringError>
    /// The path of the keyring; empty where none is known.
    public package(set) var path: String
    /// The system's `errno`, of `system` and `notSynced`.
    public let errno: Int32?
    /// Where the file makes no sense, of `damaged`; nil where it is damaged as a whole.
    public let offset: Int?
    /// The version of the file, of `unknownVersion`.
    public let version: Int?
    /// The numbers of the slots that the error is about; several of `labelNotUnique` only.
    public let slots: [Int]
    /// The label that no slot has, of `noSuchLabel`.
    public let label: String?
    /// The command that was not allowed, of `commandNotAllowed`.
    public let command: SecretCommand?
    /// The owner that the new file cannot get, of `ownership`.
    public let owner: String?
    /// The group that the new file cannot get, of `ownership`.
    public let group: String?
    /// When the key of the database was retired, of `oldDatabase`.
    public let retired: Date?
    /// The sequence number that the newest copy had, of `outdated`.
    public let generation: UInt64?
    /// The path of the database that is there, of `lost`.
    public let database: String?

    /// - Parameter path: Empty where a call that knows it names it.
    package init(
        _ code: ErrorCode<KeyringError>,
        path: String = "",
        errno: Int32? = nil,
        offset: Int? = nil,
        version: Int? = nil,
        slots: [Int] = [],
        label: String? = nil,
        command: SecretCommand? = nil,
        owner: String? = nil,
        group: String? = nil,
        retired: Date? = nil,
        generation: UInt64? = nil,
        database: String? = nil
    ) {
        self.code = code
        self.path = path
        self.errno = errno
        self.offset = offset
        self.version = version
        self.slots = slots
        self.label = label
        self.command = command
        self.owner = owner
        self.group = group
        self.retired = retired
        self.generation = generation
        self.database = database
    }

    /// With the path, where there is none yet.
    package func naming(_ path: String) -> KeyringError {
        var named = self
        if self.path.isEmpty { named.path = path }
        return named
    }

    /// Names the keyring at `path` in what a call of the system throws.
    static func naming<Result>(
        _ path: String,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(KeyringError) -> Result {
        do {
            return try call()
        } catch .noSuchFile {
            throw KeyringError(.missing, path: path)
        } catch {
            throw KeyringError(.system, path: path, errno: error.code)
        }
    }
}

extension ErrorCode where Failure == KeyringError {
    /// The system failed, with this `errno`.
    public static var system: Self {
        Self { "\(given: $0.errno.map(Errno.init(code:)))" }
    }
    /// The new content is in force, but the system failed, with this `errno`, before its name was on the disk: after a power
    /// failure the content from before may be back.
    public static var notSynced: Self {
        Self {
            "the keyring was written, but could not be synced and may be lost by a power failure: \(given: $0.errno.map(Errno.init(code:))); keep the "
                + "previous secret"
        }
    }
    /// Nothing stands there.
    public static var missing: Self {
        Self("no such file; restore it from a backup; only a new database needs a new keyring")
    }
    /// No regular file.
    public static var notAFile: Self { Self("not a regular file") }
    /// The file does not begin as a keyring does.
    public static var notAKeyring: Self { Self("not a keyring; if it was one, restore it from a backup") }
    /// The file is not as it was written; at this offset it makes no sense, or as a whole.
    public static var damaged: Self {
        Self { "the keyring is damaged\($0.offset.map { " at offset \($0)" } ?? ""); restore it from a backup" }
    }
    /// The keyring is of a version that this library does not know.
    public static var unknownVersion: Self {
        Self {
            ($0.version ?? 0) < 1
                ? "no keyring has the version \(given: $0.version); restore it from a backup"
                : "a keyring of the newer version \(given: $0.version); a newer CipherDB is needed"
        }
    }
    /// No slot of the kind opens with this secret.
    public static var wrongSecret: Self { Self("wrong secret: no slot that was tried opens with it") }
    /// The secret is right, but somebody without it has altered the keyring.
    public static var altered: Self {
        Self("the secret is right, but the keyring was altered without one; restore it from a backup")
    }
    /// Trying all slots would take too long: name one.
    public static var tooManySlots: Self { Self("trying all slots would take too long; give the number of the slot") }
    /// The slot with this number asks for a derivation that this library does not do: unknown, or too costly.
    public static var unusableSlot: Self {
        Self {
            "wrong secret; slot \(given: $0.slots.first) could not be tried, because its KDF is unknown or too costly"
        }
    }
    /// No slot that was looked at has a command.
    public static var noCommand: Self { Self("no slot that was tried has a command") }
    /// The slot with this number has a command that the caller did not allow. Nobody has proved that its owner wrote it.
    public static var commandNotAllowed: Self {
        Self {
            "slot \(given: $0.slots.first) has a command that was not allowed, and was not run: \(given: $0.command)"
        }
    }
    /// Somebody else changed the slot meanwhile.
    public static var slotChanged: Self {
        Self {
            "slot \(given: $0.slots.first) was changed by another process meanwhile; nothing was changed"
        }
    }
    /// There is no slot with this number.
    public static var noSuchSlot: Self {
        Self { "the keyring has no slot \(given: $0.slots.first)" }
    }
    /// No slot has this label.
    public static var noSuchLabel: Self {
        Self { "the keyring has no slot with the label “\(given: $0.label)”" }
    }
    /// Several slots have the label, these: name one by its number.
    public static var labelNotUnique: Self {
        Self {
            "slots \($0.slots.map(String.init).joined(separator: " and ")) have this label; name the slot by its number (slot:)"
        }
    }
    /// Without this slot no passphrase and no recovery code would open the keyring.
    public static var lastSlot: Self { Self("no passphrase or recovery code would remain; add one first") }
    /// A keyring has 32 slots, 255 retired keys and 64 KiB at most.
    public static var full: Self {
        Self(
            "the keyring is full (32 slots, 255 retired keys, 64 KiB); remove a slot, or the retired keys once no backup "
                + "needs them"
        )
    }
    /// What was typed is another code than the one shown.
    public static var notConfirmed: Self { Self("the typed recovery code differs; nothing was added") }
    /// A recovery code is given to a slot only when it was typed.
    public static var notTypedBack: Self {
        Self("a recovery code must be typed back: use add(_:typedBack:), or RecoveryCode(typed:)")
    }
    /// The slot with this number opens with the new secret already.
    public static var secretInUse: Self {
        Self {
            "slot \(given: $0.slots.first) already opens with this secret; nothing was changed"
        }
    }
    /// The only slot of a keyring is never removed.
    public static var onlySlot: Self { Self("the only slot cannot be removed; to destroy the data, erase the keyring") }
    /// A file of this name exists.
    public static var exists: Self { Self("exists already") }
    /// Another process changes the keyring, or rotates its key.
    public static var busy: Self { Self("another process is changing the keyring; try again") }
    /// The keyring was replaced by another one since it was unlocked.
    public static var replaced: Self { Self("the file is not the keyring that was unlocked; unlock it again") }
    /// A label has 128 bytes at most, and no control characters.
    public static var unusableLabel: Self { Self("a label has at most 128 bytes and no control characters") }
    /// A change of key is under way; resume or cancel it.
    public static var rotationPending: Self {
        Self("a rotation is pending; open the database for writing, or resume or cancel the rotation")
    }
    /// No change of key is under way.
    public static var noRotationPending: Self { Self("no rotation is pending") }
    /// The database is under no key of the keyring.
    public static var otherDatabase: Self {
        Self(
            "the database is under no key of the keyring: it is another database, one of the two is an old copy, its first page "
                + "was overwritten, or the database must be moved to a keyring first"
        )
    }
    /// The keyring has hard links, which would keep the old content.
    public static var severalNames: Self {
        Self("the keyring has hard links, which would keep the old content; remove them")
    }
    /// The keyring cannot be written: the new file cannot get this owner or this group of the old one.
    public static var ownership: Self {
        Self { MissingOwnership(owner: $0.owner, group: $0.group).refusal }
    }
    /// The database is under a key that was retired at this time: an old copy, unless the keyring is the old copy.
    public static var oldDatabase: Self {
        Self {
            "the database is an old copy: it is under a key that was retired on \(given: $0.retired?.day); "
                + "to use the copy, adopt its key"
        }
    }
    /// Another database uses the keyring.
    public static var inUse: Self { Self("the keyring is in use by another database; create another keyring") }
    /// The database was last used with a newer copy of this keyring, which had this generation.
    public static var outdated: Self {
        Self {
            "an old copy of the keyring: the database was used with sequence number \(given: $0.generation); restore "
                + "the newest keyring, or accept the old copy (acceptsOldCopies)"
        }
    }
    /// Another program has altered what the database remembers of the keyring.
    public static var recordAltered: Self {
        Self(
            "another program altered the table `cipherdb_keyring`, by which old copies of the keyring are detected; if the "
                + "keyring is the newest, rewrite the table (acceptsOldCopies)"
        )
    }
    /// The database that the keyring was used for is missing.
    public static var databaseMissing: Self {
        Self("the database of the keyring is missing; for a new database create a new keyring")
    }
    /// The keys in the keyring are not those in the backup that would replace it.
    public static var otherKeys: Self {
        Self(
            "the key of the database was changed since the backup; the present keyring opens the database, the backup may not"
        )
    }
    /// The keyring is missing, and this database, which may be under it, is not.
    public static var lost: Self {
        Self {
            "no such keyring, but the database \(given: $0.database) is there: restore the keyring from a backup (`rekey keyring restore`); "
                + "a database with a key of its own needs `rekey keyring init`, or `create(with:for:)`; without a backup or a key "
                + "nobody can open it, and a new "
                + "database needs another path"
        }
    }
}

extension KeyringError {
    /// Whether the file could not be written or locked.
    package var isOfTheSystem: Bool { [.system, .notSynced, .busy, .severalNames, .ownership].contains(code) }

    /// Whether the new content is in force all the same.
    var isInForce: Bool { code == .notSynced }

    /// Whether the file began as a keyring does.
    var isOfAKeyring: Bool { [.damaged, .unknownVersion].contains(code) }

    /// Whether nothing in the file can be read, as after a power failure.
    var isDamage: Bool { [.damaged, .notAKeyring].contains(code) }
}

extension Date {
    /// The day by UTC, as ISO 8601 has it.
    package var day: String { formatted(.iso8601.year().month().day()) }
}
