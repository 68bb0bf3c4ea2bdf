internal import CipherSystem

/// A source of a secret, other than a command-line argument, which every user of the machine can read.
public enum KeySource: Sendable, Equatable {
    /// Typed at the terminal without echo; with `confirmed` it must be typed twice.
    case prompt(String, confirmed: Bool)
    /// A file of this user's or root's that only its owner has rights on, of a mebibyte at most; not a link into another directory. A
    /// named pipe is read to its end, and waited for where it has no writer yet.
    case file(path: String)
    /// A file, regardless of its permissions and of where a link leads. A key there is no secret from other users of the
    /// machine.
    case unsafeFile(path: String)
    /// An open file descriptor, read to its end.
    case descriptor(Int32)
    /// An environment variable, whose value is overwritten when it has been read, so that children do not inherit it: it can be
    /// read once. Until then the environment of a process can be read by its user and by root.
    case environment(String)
    /// A credential that systemd has given the service: the file of this name in `$CREDENTIALS_DIRECTORY` (systemd.exec(5)).
    case credential(String)
    /// A key of the type `user` that the Linux kernel keeps, by its description (keyrings(7)).
    case kernelKeyring(description: String)
    /// A generic password in the keychain of macOS.
    case keychain(service: String, account: String)
    /// What a program prints: its name, which is found by `PATH`, and its arguments. No shell is asked. It has this process's
    /// standard input, error stream and environment, so that it can ask its user.
    case command([String])

    /// Reads the secret, byte for byte.
    ///
    /// - Throws: ``KeySourceError`` naming the source and the error.
    public func read() throws -> SecretBytes {
        switch self {
        case .prompt(let message, let confirmed): try Terminal.askSecret(message, confirmed: confirmed)
        case .file(let path): try KeySource.readFile(path, isChecked: true)
        case .unsafeFile(let path): try KeySource.readFile(path, isChecked: false)
        case .descriptor(let descriptor): try KeySource.readDescriptor(descriptor)
        case .environment(let name): try KeySource.readEnvironment(name)
        case .credential(let name): try KeySource.readCredential(name)
        case .kernelKeyring(let description): try KernelKeyring.read(description)
        case .keychain(let service, let account): try Keychain.read(service: service, account: account)
        case .command(let arguments): try CommandOutput.read(arguments)
        }
    }

    /// Keeps a variable of the environment, which holds a secret, from the programs of ``command(_:)``: they may be run before it
    /// is read.
    package static func withhold(environment name: String) {
        _ = CommandOutput.withheld.withLock { $0.insert(name) }
    }

    private static func readFile(_ path: String, isChecked: Bool) throws -> SecretBytes {
        do {
            if isChecked, try Platform.leadsElsewhere(path) {
                throw KeySourceError(source: path, problem: .leadsElsewhere)
            }
            var descriptor = try Platform.openForReading(path)
            defer { Platform.close(descriptor) }
            if try checkedKind(descriptor, path, isChecked) == .pipe {
                // It may have no writer yet, and would seem to be at its end.
                let waiting = try Platform.openWaitingForWriter(path)
                Platform.close(descriptor)
                descriptor = waiting
                _ = try checkedKind(descriptor, path, isChecked)
            }
            return try readAll(descriptor, name: path)
        } catch let error as Errno {
            throw KeySourceError(source: path, problem: .system(error.code))
        }
    }

    /// What `descriptor` is open on; throws for what no secret is read from, and with `isChecked` where others than this user and root
    /// have a part in it.
    private static func checkedKind(_ descriptor: Int32, _ path: String, _ isChecked: Bool) throws -> FileStatus.Kind {
        let status = try Platform.status(of: descriptor)
        guard [.regular, .pipe].contains(status.kind) else { throw KeySourceError(source: path, problem: .notAFile) }
        guard isChecked else { return status.kind }
        guard status.mode & 0o077 == 0 else {
            throw KeySourceError(source: path, problem: .othersCanRead(mode: status.mode))
        }
        guard [0, Platform.user].contains(status.owner) else {
            throw KeySourceError(source: path, problem: .ofAnotherUser)
        }
        return status.kind
    }

    private static func readCredential(_ name: String) throws -> SecretBytes {
        let directory = Platform.withEnvironmentVariable("CREDENTIALS_DIRECTORY") { String(pathBytes: $0) }
        guard let directory, !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".." else {
            throw KeySourceError(source: "credential \(name)", problem: .missing)
        }
        // Who may read it is systemd's matter: a service without a user of its own has them from root.
        return try readFile("\(directory)/\(name)", isChecked: false)
    }

    private static func readDescriptor(_ descriptor: Int32) throws -> SecretBytes {
        let name = "descriptor \(descriptor)"
        do {
            return try readAll(descriptor, name: name)
        } catch let error as Errno {
            throw KeySourceError(source: name, problem: .system(error.code))
        }
    }

    /// Reads `descriptor` to its end, a mebibyte and a line ending at most.
    ///
    /// - Parameter wait: Called before each read; returns when there is something to read.
    static func readAll(
        _ descriptor: Int32,
        name: String,
        waiting wait: () throws -> Void = {}
    ) throws -> SecretBytes {
        var secret = try SecretBytes(count: 0) { _ in }
        var capacity = 4096
        while true {
            var filled = secret.count
            var atEnd = false
            let longer = try SecretBytes(count: capacity) { buffer in
                secret.withUnsafeBytes { buffer.copyMemory(from: $0) }
                while filled < buffer.count, !atEnd {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                    try wait()
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
        let value = try Platform.withEnvironmentVariable(name) { bytes in
            let secret = try SecretBytes(copying: bytes)
            OpenSSL.cleanse(UnsafeMutableRawBufferPointer(mutating: bytes))
            return secret
        }
        guard let value, value.count > 0 else {
            throw KeySourceError(source: "environment variable \(name)", problem: .missing)
        }
        return value
    }

    /// A passphrase of the longest kind and its line ending.
    private static let largest = MalformedKey.longestPassphrase + 2
}
