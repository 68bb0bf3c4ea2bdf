internal import CipherSystem

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
    public static var keychain: Self { Self { "the keychain returned \(given: $0.status)" } }
}
