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
    /// A credential that systemd has given the service: the file of this name in `$CREDENTIALS_DIRECTORY` (systemd.exec(5)). Its
    /// permissions are checked as those of a ``file(path:)``; a group may read it if it and its directory are root's.
    case credential(String)
    /// A key of the type `user` that the Linux kernel keeps, by its description (keyrings(7)).
    case kernelKeyring(description: String)
    /// A generic password in the login keychain of macOS, for a command; an app has ``KeychainItem``.
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
        case .file(let path): try KeySource.readFile(path, .own)
        case .unsafeFile(let path): try KeySource.readFile(path, .anybodys)
        case .descriptor(let descriptor): try KeySource.readDescriptor(descriptor)
        case .environment(let name): try KeySource.readEnvironment(name)
        case .credential(let name): try KeySource.readCredential(name)
        case .kernelKeyring(let description): try KernelKeyring.read(description)
        case .keychain(let service, let account): try Keychain.read(service: service, account: account)
        case .command(let arguments): try CommandOutput.read(arguments)
        }
    }

    /// What was taken out of the environment and not read yet.
    private static let withheld = Lock<[String: SecretBytes]>([:])

    /// Takes a variable with a secret out of the environment, before this process starts any program; ``environment(_:)`` has it from
    /// then on, once. Called while this process has one thread.
    package static func withhold(environment name: String) throws {
        guard let value = try takeVariable(name) else { return }
        withheld.withLock { $0[name] = value }
        Platform.forgetVariable(name)
    }

    /// Whose a file with a secret may be.
    private enum Rights {
        /// This user's or root's, who alone has rights on it.
        case own
        /// As `own`; or root's, in a directory of root's, and a group may read it. systemd gives the service's user the right to
        /// read by an access control list, which stands in the place of the group's permissions.
        case credential
        case anybodys
    }

    private static func readFile(_ path: String, _ rights: Rights) throws -> SecretBytes {
        do {
            if rights != .anybodys, try Platform.leadsElsewhere(path) {
                throw KeySourceError(.leadsElsewhere, path: path)
            }
            var descriptor = try Platform.openForReading(path)
            defer { Platform.close(descriptor) }
            if try checkedKind(descriptor, path, rights) == .pipe {
                // It may have no writer yet, and would seem to be at its end.
                let waiting = try Platform.openWaitingForWriter(path)
                Platform.close(descriptor)
                descriptor = waiting
                _ = try checkedKind(descriptor, path, rights)
            }
            return try readAll(descriptor, name: path)
        } catch let error as Errno {
            throw KeySourceError(.system, path: path, errno: error.code)
        }
    }

    /// What `descriptor` is open on; throws for what no secret is read from, and where others have a part in it that have no such rights.
    private static func checkedKind(_ descriptor: Int32, _ path: String, _ rights: Rights) throws -> FileStatus.Kind {
        let status = try Platform.status(of: descriptor)
        guard [.regular, .pipe].contains(status.kind) else { throw KeySourceError(.notAFile, path: path) }
        guard rights != .anybodys else { return status.kind }
        let isOfSystemd = try rights == .credential && isRoots(status, in: FileCalls.directory(of: path))
        guard status.mode & (isOfSystemd ? 0o037 : 0o077) == 0 else {
            throw KeySourceError(.othersCanRead, path: path, mode: status.mode)
        }
        guard [0, Platform.user].contains(status.owner) else {
            throw KeySourceError(.ofAnotherUser, path: path)
        }
        return status.kind
    }

    /// Whether the file is root's, and nobody else can put files into its directory.
    private static func isRoots(_ file: FileStatus, in directory: String) throws(Errno) -> Bool {
        let directory = try Platform.status(of: directory)
        return file.owner == 0 && directory.owner == 0 && directory.mode & 0o022 == 0
    }

    private static func readCredential(_ name: String) throws -> SecretBytes {
        let directory = Platform.withEnvironmentVariable("CREDENTIALS_DIRECTORY") { String(pathBytes: $0) }
        guard let directory, !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".." else {
            throw KeySourceError(.missing, path: "credential \(name)")
        }
        return try readFile("\(directory)/\(name)", .credential)
    }

    private static func readDescriptor(_ descriptor: Int32) throws -> SecretBytes {
        let name = "descriptor \(descriptor)"
        do {
            return try readAll(descriptor, name: name)
        } catch let error as Errno {
            throw KeySourceError(.system, path: name, errno: error.code)
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
                try secret.withUnsafeBytes { buffer.copyMemory(from: $0) }
                while filled < buffer.count, !atEnd {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                    try wait()
                    let count = try Platform.read(descriptor, into: rest)
                    filled += count
                    atEnd = count == 0
                }
            }
            secret = try longer.prefix(filled)
            guard filled <= largest else { throw KeySourceError(.tooLarge, path: name) }
            if atEnd { return secret }
            capacity *= 2
        }
    }

    private static func readEnvironment(_ name: String) throws -> SecretBytes {
        let value = try withheld.withLock { $0.removeValue(forKey: name) } ?? takeVariable(name)
        guard let value, value.count > 0 else {
            throw KeySourceError(.missing, path: "environment variable \(name)")
        }
        return value
    }

    /// The value of a variable, which is overwritten; nil where it is not set.
    private static func takeVariable(_ name: String) throws -> SecretBytes? {
        try Platform.withEnvironmentVariable(name) { bytes in
            let secret = try SecretBytes(copying: bytes)
            Cryptography.cleanse(UnsafeMutableRawBufferPointer(mutating: bytes))
            return secret
        }
    }

    /// A passphrase of the longest kind and its line ending.
    private static let largest = MalformedKey.longestPassphrase + 2
}

/// An error of a source that returned no secret: `catch KeySourceError.missing`.
public struct KeySourceError: CodedError {
    /// The cause.
    public let code: ErrorCode<KeySourceError>
    /// The path of the file, or what else was read: a descriptor, a variable, a program; never its content.
    public let path: String
    /// The system's `errno`, of `system`.
    public let errno: Int32?
    /// The permissions of the file, of `othersCanRead`.
    public let mode: Int?
    /// The exit status of the command, of `commandFailed`, or the keychain's `OSStatus`, of `keychain`.
    public let status: Int32?
    /// How long was waited, of `timedOut`.
    public let limit: Duration?

    package init(
        _ code: ErrorCode<KeySourceError>,
        path: String,
        errno: Int32? = nil,
        mode: Int? = nil,
        status: Int32? = nil,
        limit: Duration? = nil
    ) {
        self.code = code
        self.path = path
        self.errno = errno
        self.mode = mode
        self.status = status
        self.limit = limit
    }
}

extension ErrorCode where Failure == KeySourceError {
    /// The system refused, with this `errno`.
    public static var system: Self { Self { "\(given: $0.errno.map(Errno.init(code:)))" } }
    /// A directory or device where a file or named pipe is needed.
    public static var notAFile: Self { Self("neither a regular file nor a named pipe") }
    /// Others than the owner have rights on the file.
    public static var othersCanRead: Self {
        Self {
            "other users can access it (mode \(given: $0.mode.map { String($0, radix: 8) })); run chmod 600, or allow it explicitly"
        }
    }
    /// No such environment variable, credential or keychain item, or no command at all.
    public static var missing: Self {
        Self {
            "missing or empty"
                + ($0.path.hasPrefix("environment variable") ? "; once it is read, it is overwritten" : "")
        }
    }
    /// More than a mebibyte.
    public static var tooLarge: Self { Self("more than a mebibyte") }
    /// No terminal to ask at.
    public static var noTerminal: Self {
        Self("there is no terminal for a prompt; use a file, a descriptor or an environment variable")
    }
    /// The two entries differ, or the user gave up.
    public static var notConfirmed: Self { Self("the two entries differ") }
    /// The terminal was closed, or the user ended the input.
    public static var endOfInput: Self { Self("ended without an entry") }
    /// A link to a file in another directory.
    public static var leadsElsewhere: Self {
        Self("a link to another directory; give the path of the file itself, or allow it explicitly")
    }
    /// A file of another user's, who could write another secret into it.
    public static var ofAnotherUser: Self { Self("a file of another user; change its owner, or allow it explicitly") }
    /// The command ended with another status than 0; with 128 and the number of a signal that ended it.
    public static var commandFailed: Self { Self { "ended with status \(given: $0.status)" } }
    /// The command of a slot did not end within this time, and was ended.
    public static var timedOut: Self {
        Self { "did not end within \(given: $0.limit?.components.seconds) seconds, and was ended" }
    }
    /// The command of a new slot printed another secret when it was run again.
    public static var notRepeatable: Self {
        Self("printed another secret when it was run again; the command of a slot must print the same one each time")
    }
    /// This system has no such source.
    public static var notHere: Self { Self("not available on this system") }
    /// The keychain refused, with this `OSStatus`.
    public static var keychain: Self {
        Self {
            "the keychain returned \(given: $0.status)"
                + ([
                    -25299: ": it is there already", -25308: ": the device is locked",
                    -34018: ": the program has no entitlement for it",
                ][$0.status ?? 0]
                    ?? "")
        }
    }
}
