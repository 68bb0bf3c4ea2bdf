#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The unencrypted content of a keyring. Only `UnlockedKeyring/content()` has proved that nobody altered it.
///
/// Documentation/Keyring.md has the format byte for byte.
public struct KeyringContent: Sendable, Equatable {
    /// Sixteen random bytes that tell this keyring from every other.
    public let identifier: [UInt8]
    /// How often it was written, but for notes of backups. Of two copies of a keyring the one with the greater number is the newer.
    public internal(set) var generation: UInt64
    /// When it was made.
    public let created: Date
    /// When it was last written.
    public internal(set) var written: Date
    /// The version of CipherDB that wrote it last.
    public internal(set) var writer: String
    /// The slots.
    public internal(set) var slots: [KeyringSlot]

    /// The key that the database is under.
    package internal(set) var current: WrappedKey
    /// The key that the database is to be under, from before its first page is written until it is proved.
    package internal(set) var next: WrappedKey?
    /// Retired keys, 255 at most, the oldest first.
    package internal(set) var retired: [RetiredKey] = []

    /// When the key that the database is under was made.
    public var keyCreated: Date { current.created }
    /// Whether a database was made with the key, or brought under it.
    public var isInUse: Bool { current.salt != nil }
    /// How many retired keys of the database it holds, 255 at most: for older copies of the database.
    public var olderKeyCount: Int { retired.count }
    /// Whether a rotation was begun and not completed.
    public var isRotationPending: Bool { next != nil }

    static let mostSlots = 32
    /// Their number is one byte of the file.
    static let mostRetired = 255

    /// The slot with this number.
    public func slot(_ number: Int) -> KeyringSlot? { slots.first { $0.number == number } }
}

extension KeyringContent: CustomStringConvertible {
    /// The generation and the slots, a line each.
    public var description: String {
        (["keyring of generation \(generation), key made \(keyCreated.day)"] + slots.map { "\($0)" })
            .joined(separator: "\n")
    }
}

extension KeyringSlot: CustomStringConvertible {
    /// The number, the label, the kind, and the KDF of a passphrase.
    public var description: String {
        "slot \(number)" + (label.isEmpty ? "" : " “\(label)”") + ": "
            + (kind.map { "\($0)" } ?? (isNote ? "notes of backups" : "of a kind that this version does not know"))
            + (command.map { " \($0)" } ?? "") + (derivation.map { ", \($0)" } ?? "") + ", changed \(changed.day)"
    }
}

/// A database key as the keyring holds it.
package struct WrappedKey: Sendable, Equatable {
    let created: Date
    /// The salt of the database file that was made with it; nil before.
    package internal(set) var salt: [UInt8]?
    /// AES key wrap under a key from the master key: 40 bytes.
    let wrapped: [UInt8]
}

/// A retired database key. It is kept, because a copy of the database may be under it.
package struct RetiredKey: Sendable, Equatable {
    var key: WrappedKey
    package let retired: Date
}

/// A slot of a keyring.
public struct KeyringSlot: Sendable, Equatable {
    /// Its number, from 1.
    public let number: Int
    /// What opens it; nil for a kind that this version does not know.
    public let kind: KeyringSecret.Kind?
    /// What its owner calls it.
    public let label: String
    /// When it was made.
    public let created: Date
    /// When its secret or its derivation was last changed.
    public let changed: Date
    /// The KDF of its secret; nil for secrets as long as keys, and for KDFs that this version does not have.
    public var derivation: PassphraseDerivation? {
        if case .derived(let derivation) = kdf { derivation } else { nil }
    }

    /// How the secret becomes the key that wraps the master key.
    enum KDF: Equatable {
        case direct
        case derived(PassphraseDerivation)
        /// A function or parameters that this version refuses: the 13 bytes.
        case unusable([UInt8])
    }

    /// Whether its function is one that this library does, with the libcrypto of this process.
    var isUsable: Bool {
        switch kdf {
        case .direct: true
        case .derived(let derivation): derivation.isAvailable
        case .unusable: false
        }
    }

    let kindNumber: UInt8
    let kdf: KDF
    let salt: [UInt8]
    /// The command that prints its secret; nil for a slot of another kind. Only `UnlockedKeyring.content().slots` has proved that nobody
    /// altered it.
    public let command: SecretCommand?
    /// AES key wrap of the master key: 40 bytes. For an unknown kind all that follows its label.
    let wrapped: [UInt8]
}

extension KeyringContent {
    /// It is about to be written.
    mutating func noteWriting(raisesSequenceNumber: Bool = true) {
        // Nobody gets there by writing, but a number that says so must not end the process.
        generation += raisesSequenceNumber && generation < .max ? 1 : 0
        written = max(written, Date.wholeSecond)
        writer = CipherDBVersion.current
    }

    static func check(label: String) throws {
        guard label.utf8.count <= longestLabel, !label.unicodeScalars.contains(where: \.changesDisplay) else {
            throw KeyringError(.unusableLabel)
        }
    }

    /// Whether there are no control characters, which a terminal would obey.
    static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Gives up a key. A keyring with too many of them is not written.
    mutating func retire(_ key: WrappedKey) {
        retired.append(RetiredKey(key: key, retired: Date.wholeSecond))
        guard retired.count > KeyringContent.mostRetired else { return }
        // No file was seen under it: it is of a rotation that was undone.
        if let unused = retired.firstIndex(where: { $0.key.salt == nil }) { retired.remove(at: unused) }
    }

    /// Whether trying all slots would take too long, so that a passphrase needs the number of its slot.
    public var needsSlotNumber: Bool { work > PassphraseDerivation.mostWork }

    private var work: Int { slots.reduce(0) { $0 + ($1.derivation?.work ?? 0) } }

    /// How the passphrase of a slot with weak parameters is derived from now on: so that no slot needs its number by that.
    func upgradedDerivation(of slot: KeyringSlot) -> PassphraseDerivation {
        let others = work - (slot.derivation?.work ?? 0)
        return others + PassphraseDerivation.standard.work <= PassphraseDerivation.mostWork ? .standard : .pbkdf2
    }

    /// Throws where the change took away the last secret that is kept in a head or a drawer.
    func checkSlotRemains(without old: KeyringSlot) throws {
        func isOfPeople(_ slot: KeyringSlot) -> Bool { slot.kind == .passphrase || slot.kind == .recoveryCode }
        guard !isOfPeople(old) || slots.contains(where: isOfPeople) else { throw KeyringError(.lastSlot) }
    }
}
