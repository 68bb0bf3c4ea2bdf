/// Where a secret comes from, so that it need never be an argument of a command, which every user of the machine can see.
public enum KeySource: Sendable, Equatable {
    /// Typed at the terminal without echo; with `confirmed` it must be typed twice.
    case prompt(String, confirmed: Bool)
    /// A regular file that only its owner can read.
    case file(path: String)
    /// A file whoever else can read it. A key there is no secret from other users of the machine.
    case unsafeFile(path: String)
    /// An open file descriptor, read to its end.
    case descriptor(Int32)
    /// An environment variable. The environment of a process can be read by its user and by root, and children inherit it.
    case environment(String)

    /// Reads the secret, byte for byte.
    ///
    /// - Throws: ``KeySourceError`` naming the source and what is wrong with it.
    public func read() throws -> SecretBytes {
        switch self {
        case .prompt(let message, let confirmed): try Terminal.askSecret(message, confirmed: confirmed)
        case .file(let path): try KeySource.readFile(path, othersMayRead: false)
        case .unsafeFile(let path): try KeySource.readFile(path, othersMayRead: true)
        case .descriptor(let descriptor): try KeySource.readDescriptor(descriptor)
        case .environment(let name): try KeySource.readEnvironment(name)
        }
    }

    /// Reads a passphrase: the bytes, without the one line ending that editors and `echo` leave behind them.
    ///
    /// - Throws: ``KeySourceError``, or ``MalformedKey`` for an empty or too long one.
    public func readPassphrase() throws -> DatabaseKey {
        let bytes = try read()
        return try .passphrase(bytes.prefix(KeySource.lengthWithoutLineEnding(bytes)))
    }

    /// Reads a raw key: 32 or 48 bytes as they are, or 64 or 96 hexadecimal digits and perhaps a line ending.
    ///
    /// - Throws: ``KeySourceError``, or ``MalformedKey`` for anything else.
    public func readRawKey() throws -> DatabaseKey {
        let bytes = try read()
        switch bytes.count {
        case CipherFormat.keySize: return try .raw(bytes)
        case CipherFormat.keySize + CipherFormat.saltSize: return try .rawWithSalt(bytes)
        default: return try .raw(hex: bytes.prefix(KeySource.lengthWithoutLineEnding(bytes)))
        }
    }

    private static func lengthWithoutLineEnding(_ secret: SecretBytes) -> Int {
        secret.withUnsafeBytes { bytes in
            guard bytes.last == UInt8(ascii: "\n") else { return bytes.count }
            return bytes.dropLast().last == UInt8(ascii: "\r") ? bytes.count - 2 : bytes.count - 1
        }
    }

    private static func readFile(_ path: String, othersMayRead: Bool) throws -> SecretBytes {
        do {
            let descriptor = try Platform.openForReading(path)
            defer { Platform.close(descriptor) }
            let status = try Platform.status(of: descriptor)
            guard status.kind == .regular else { throw KeySourceError(source: path, problem: .notAFile) }
            guard othersMayRead || status.mode & 0o077 == 0 else {
                throw KeySourceError(source: path, problem: .othersCanRead(mode: status.mode))
            }
            return try readAll(descriptor, name: path)
        } catch let error as Errno {
            throw KeySourceError(source: path, problem: .system(error.code))
        }
    }

    private static func readDescriptor(_ descriptor: Int32) throws -> SecretBytes {
        let name = "descriptor \(descriptor)"
        do {
            return try readAll(descriptor, name: name)
        } catch let error as Errno {
            throw KeySourceError(source: name, problem: .system(error.code))
        }
    }

    private static func readAll(_ descriptor: Int32, name: String) throws -> SecretBytes {
        var secret = try SecretBytes(count: 0) { _ in }
        var capacity = 4096
        while true {
            var filled = secret.count
            var atEnd = false
            let longer = try SecretBytes(count: capacity) { buffer in
                secret.withUnsafeBytes { buffer.copyMemory(from: $0) }
                while filled < buffer.count, !atEnd {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                    let count = try Platform.read(descriptor, into: rest)
                    filled += count
                    atEnd = count == 0
                }
            }
            secret = try longer.prefix(filled)
            guard filled <= largest else { throw KeySourceError(source: name, problem: .tooLarge) }
            if atEnd { return secret }
            capacity *= 2
        }
    }

    private static func readEnvironment(_ name: String) throws -> SecretBytes {
        let value = try Platform.withEnvironmentVariable(name) { try SecretBytes(copying: $0) }
        guard let value else { throw KeySourceError(source: "environment variable \(name)", problem: .missing) }
        return value
    }

    /// A passphrase of the longest kind and its line ending.
    private static let largest = MalformedKey.longestPassphrase + 2
}

/// A source that gave no secret.
public struct KeySourceError: Error, Equatable, Sendable {
    /// What is wrong with a source.
    public enum Problem: Equatable, Sendable {
        /// The system refused, with this `errno`.
        case system(Int32)
        /// A folder, pipe or device where a regular file is needed.
        case notAFile
        /// Others than the owner have rights on the file.
        case othersCanRead(mode: Int)
        /// No such environment variable.
        case missing
        /// More than a mebibyte.
        case tooLarge
        /// No terminal to ask at.
        case noTerminal
        /// The two entries differ, or the user gave up.
        case notConfirmed
        /// The terminal was closed, or the user ended the input.
        case endOfInput
    }

    /// The path, descriptor or variable, never its content.
    public let source: String
    /// What is wrong with it.
    public let problem: Problem
}

extension KeySourceError: CustomStringConvertible {
    /// A sentence naming the source and the way out.
    public var description: String {
        switch problem {
        case .system(let code): "\(source): \(Errno(code: code))"
        case .notAFile: "\(source): not a regular file; a pipe can be given by its descriptor"
        case .othersCanRead(let mode):
            "\(source): other users have rights on it (mode \(String(mode, radix: 8))); run chmod 600, or say that it is meant"
        case .missing: "\(source): not set"
        case .tooLarge: "\(source): more than a mebibyte"
        case .noTerminal: "\(source): no terminal to ask at; give the secret by a file, a descriptor or a variable"
        case .notConfirmed: "\(source): the two entries differ"
        case .endOfInput: "\(source): ended without an entry"
        }
    }
}
