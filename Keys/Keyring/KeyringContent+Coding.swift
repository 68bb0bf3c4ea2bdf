internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Strict when it writes: one content has one encoding. When it reads, kinds of slots that it does not know are kept as they
// are, and all else must be as it would write it.
extension KeyringContent {
    static let magic = Array("CipherKR".utf8)
    private static let version = 1
    static let versionSize = 2
    /// Far above 32 slots with the longest labels.
    static let largestFile = 64 << 10
    static let digestSize = 32
    static let codeSize = 64
    private static let longestWriter = 32
    static let longestLabel = 128
    /// 36,812 AD; and seconds up to there are exact as a `Date`.
    private static let latest = 1 << 40

    // MARK: Writing

    /// All but the code at the end.
    func encoded() throws -> [UInt8] {
        var bytes = KeyringContent.magic
        bytes.append(bigEndian: KeyringContent.version, count: KeyringContent.versionSize)
        bytes += identifier
        bytes.append(bigEndian: generation, count: 8)
        bytes.append(created)
        bytes.append(written)
        bytes.append(text: writer)
        let keys = [current] + (next.map { [$0] } ?? [])
        bytes.append(bigEndian: keys.count, count: 1)
        for (index, key) in keys.enumerated() {
            bytes.append(bigEndian: index + 1, count: 1)
            bytes += key.encoded()
        }
        bytes.append(bigEndian: retired.count, count: 1)
        for old in retired {
            bytes.append(old.retired)
            bytes += old.key.encoded()
        }
        bytes.append(bigEndian: slots.count, count: 1)
        for slot in slots {
            let slot = slot.encoded()
            bytes.append(bigEndian: slot.count, count: 2)
            bytes += slot
        }
        return try bytes + Cryptography.sha256(bytes)
    }

    // MARK: Reading

    /// - Throws: ``KeyringError`` without a path.
    init(_ file: [UInt8]) throws {
        guard file.count <= KeyringContent.largestFile, file.starts(with: KeyringContent.magic) else {
            throw KeyringError(.notAKeyring)
        }
        var reader = Reader(file)
        _ = try reader.bytes(KeyringContent.magic.count)
        let version = try reader.number(KeyringContent.versionSize, 0...0xffff)
        guard version == KeyringContent.version else { throw KeyringError(.unknownVersion, version: version) }
        let end = file.count - KeyringContent.codeSize - KeyringContent.digestSize
        guard end > 0,
            try Cryptography.sha256(file[..<end]) == Array(file[end..<(end + KeyringContent.digestSize)])
        else { throw KeyringError(.damaged, offset: nil) }

        identifier = try reader.bytes(16)
        generation = try reader.number(8)
        created = try reader.date()
        written = try reader.date()
        writer = try reader.text(most: KeyringContent.longestWriter)
        let keys = try reader.number(1, 1...2)
        _ = try reader.number(1, 1...1)
        current = try WrappedKey(&reader)
        if keys == 2 {
            _ = try reader.number(1, 2...2)
            next = try WrappedKey(&reader)
        }
        for _ in 0..<(try reader.number(1, 0...KeyringContent.mostRetired)) {
            let day = try reader.date()
            retired.append(RetiredKey(key: try WrappedKey(&reader), retired: day))
        }
        slots = []
        for _ in 0..<(try reader.number(1, 1...KeyringContent.mostSlots)) {
            let slot = try KeyringSlot(&reader)
            guard self.slot(slot.number) == nil, !slot.isNote || !slots.contains(where: \.isNote) else {
                throw reader.damage
            }
            slots.append(slot)
        }
        guard reader.position == end else { throw reader.damage }
    }

    /// A ``ByteReader`` that throws where it would end.
    struct Reader {
        private var source: ByteReader
        var position: Int { source.position }
        /// What to throw about what was read last.
        var damage: KeyringError { KeyringError(.damaged, offset: position) }

        init(_ bytes: [UInt8]) {
            source = ByteReader(bytes[...], at: 0)
        }

        mutating func bytes(_ count: Int) throws(KeyringError) -> [UInt8] {
            guard let bytes = source.bytes(count) else { throw damage }
            return Array(bytes)
        }

        mutating func number(_ count: Int) throws(KeyringError) -> UInt64 {
            guard let number = source.bigEndian(count) else { throw damage }
            return number
        }

        mutating func number(
            _ count: Int,
            _ range: ClosedRange<Int>
        ) throws(KeyringError) -> Int {
            guard let number = Int(exactly: try number(count)), range.contains(number) else { throw damage }
            return number
        }

        mutating func date() throws(KeyringError) -> Date {
            Date(timeIntervalSince1970: Double(try number(8, 0...KeyringContent.latest)))
        }

        mutating func text(most: Int) throws(KeyringError) -> String {
            guard let text = String(utf8: try bytes(try number(1, 0...most))),
                KeyringContent.isPlain(text)
            else { throw damage }
            return text
        }

        mutating func salt() throws(KeyringError) -> [UInt8]? {
            let salt = try bytes(CipherFormat.saltSize)
            return salt.allSatisfy { $0 == 0 } ? nil : salt
        }
    }
}

extension WrappedKey {
    fileprivate func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(created)
        bytes += salt ?? Array(repeating: 0, count: CipherFormat.saltSize)
        return bytes + wrapped
    }

    fileprivate init(_ reader: inout KeyringContent.Reader) throws(KeyringError) {
        created = try reader.date()
        salt = try reader.salt()
        wrapped = try reader.bytes(40)
    }
}

extension KeyringSlot {
    fileprivate func encoded() -> [UInt8] {
        var bytes = [kindNumber]
        bytes.append(bigEndian: number, count: 2)
        bytes.append(created)
        bytes.append(changed)
        bytes.append(text: label)
        if kind != nil { bytes += kdf.encoded() + salt }
        bytes += wrapped
        if let command {
            bytes.append(bigEndian: command.arguments.count, count: 1)
            for argument in command.arguments { bytes.append(text: argument) }
        }
        return bytes
    }

    fileprivate init(_ reader: inout KeyringContent.Reader) throws(KeyringError) {
        let size = try reader.number(2, 0...0xffff)
        let end = reader.position + size
        kindNumber = UInt8(try reader.number(1, 1...255))
        kind = KeyringSecret.Kind(rawValue: kindNumber)
        number = try reader.number(2, 1...0xffff)
        created = try reader.date()
        changed = try reader.date()
        label = try reader.text(most: KeyringContent.longestLabel)
        if let kind {
            let function = try reader.bytes(13)
            // Passphrases need a KDF, and only they do: no passphrase may become a secret without one.
            guard kind == .passphrase ? function[0] != 0 : PassphraseDerivation.Function.coded[function[0]] == nil
            else { throw reader.damage }
            kdf = KDF(function)
            salt = try reader.bytes(16)
            wrapped = try reader.bytes(40)
            command = kind == .command ? try SecretCommand(&reader) : nil
        } else {
            command = nil
            kdf = .unusable([])
            salt = []
            wrapped = try reader.bytes(end - reader.position)
            if kindNumber == BackupNotes.slotKind, BackupNotes(wrapped) == nil { throw reader.damage }
        }
        guard reader.position == end else { throw reader.damage }
    }
}

extension SecretCommand {
    fileprivate init(_ reader: inout KeyringContent.Reader) throws(KeyringError) {
        var arguments: [String] = []
        for _ in 0..<(try reader.number(1, 1...SecretCommand.mostArguments)) {
            arguments.append(try reader.text(most: SecretCommand.longestArgument))
        }
        do {
            try self.init(arguments: arguments)
        } catch {
            throw reader.damage
        }
    }
}

extension KeyringSlot.KDF {
    /// One byte for the function, and three numbers of four.
    fileprivate func encoded() -> [UInt8] {
        let numbers: (UInt8, Int, Int, Int)
        switch self {
        case .unusable(let bytes): return bytes
        case .direct: numbers = (0, 0, 0, 0)
        case .derived(let derivation): numbers = derivation.function.code
        }
        var bytes = [numbers.0]
        for number in [numbers.1, numbers.2, numbers.3] { bytes.append(bigEndian: number, count: 4) }
        return bytes
    }

    /// Unusable is also what would cost too much: a file cannot make us spend minutes or gigabytes.
    fileprivate init(_ bytes: [UInt8]) {
        let (first, second, third) = (bytes.bigEndian(at: 1), bytes.bigEndian(at: 5), bytes.bigEndian(at: 9))
        let function = PassphraseDerivation.Function.coded[bytes[0]]?(first, second, third)
        // PBKDF2 has one parameter.
        if let function, function.code == (bytes[0], first, second, third),
            let derivation = try? PassphraseDerivation(unsafeWeak: function)
        {
            self = .derived(derivation)
        } else {
            self = bytes.allSatisfy { $0 == 0 } ? .direct : .unusable(bytes)
        }
    }
}

extension PassphraseDerivation.Function {
    /// Its number and parameters in a slot.
    fileprivate var code: (UInt8, Int, Int, Int) {
        switch self {
        case .pbkdf2SHA256(let iterations): (1, iterations, 0, 0)
        case .pbkdf2SHA512(let iterations): (2, iterations, 0, 0)
        case .scrypt(let logCost, let blockSize, let parallelism): (3, logCost, blockSize, parallelism)
        case .argon2id(let kibibytes, let passes, let lanes): (4, kibibytes, passes, lanes)
        }
    }

    /// By the numbers of ``code``.
    fileprivate static let coded: [UInt8: @Sendable (Int, Int, Int) -> Self] = [
        1: { iterations, _, _ in .pbkdf2SHA256(iterations: iterations) },
        2: { iterations, _, _ in .pbkdf2SHA512(iterations: iterations) },
        3: { .scrypt(logCost: $0, blockSize: $1, parallelism: $2) },
        4: { .argon2id(kibibytes: $0, passes: $1, lanes: $2) },
    ]
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some BinaryInteger, count: Int) {
        for shift in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    fileprivate mutating func append(_ date: Date) {
        append(bigEndian: Int(date.timeIntervalSince1970), count: 8)
    }

    fileprivate mutating func append(text: String) {
        append(bigEndian: text.utf8.count, count: 1)
        self += text.utf8
    }
}
