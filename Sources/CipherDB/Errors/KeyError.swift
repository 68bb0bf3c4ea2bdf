public import CipherKeys
internal import CipherSystem

/// Why a database does not open, where SQLite has only "file is not a database": `catch KeyError.wrongKey`.
///
/// The file is as it was: not a byte of it, nor its time of change, is touched by an opening that fails.
public struct KeyError: CodedError {
    /// The cause.
    public let code: ErrorCode<KeyError>
    /// The path of the database, as it was given.
    public package(set) var path: String
    /// The damaged pages, counted from 1, of `damaged`.
    public let damagedPages: [Int]?
    /// The format that the key is right for, of `otherFormat` and `withoutMACs`.
    public let format: CipherFormat?
    /// What a file is that is no database, such as `gzip data` or `empty`; nil where that is not known.
    public let fileType: String?
    /// What was tried before the key was called wrong, or what exactly is damaged.
    public let detail: String?
    /// Whether the key that opens nothing is a raw one: then no number of iterations is at fault.
    package let isAboutRawKey: Bool
    /// Whether the passphrase that opens nothing reads as a raw key.
    package let spellsRawKey: Bool

    package init(
        _ code: ErrorCode<KeyError>,
        path: String = "",
        damagedPages: [Int]? = nil,
        format: CipherFormat? = nil,
        detail: String? = nil,
        fileType: String? = nil,
        isAboutRawKey: Bool = false,
        spellsRawKey: Bool = false
    ) {
        self.code = code
        self.path = path
        self.damagedPages = damagedPages
        self.format = format
        self.detail = detail
        self.fileType = fileType
        self.isAboutRawKey = isAboutRawKey
        self.spellsRawKey = spellsRawKey
    }

    /// Of damaged pages.
    package static func damage(_ pages: [Int], of path: String, detail: String? = nil) -> KeyError {
        KeyError(.damaged, path: path, damagedPages: pages, detail: detail)
    }

    /// Whether the key decrypts pages, and others are damaged or under another key, such as after a change of key that was cut off.
    package var isOfDamage: Bool { [.damaged, .otherMACKey, .journalUnderOtherKey].contains(code) }
}

extension ErrorCode where Failure == KeyError {
    /// The file looks encrypted and no page of it is authentic under this key in a standard format, or in any that ``CipherFormat/any``
    /// searches for.
    ///
    /// Damage to the first 16 bytes, the salt, cannot be distinguished from a wrong passphrase; see ``otherMACKey`` for a raw key. A number
    /// of PBKDF2 iterations that is not among those tried needs ``Configuration/searchedIterations``, or ``Configuration/format``.
    public static var wrongKey: Self { Self("wrong key: no page of the file is authentic under it") }
    /// The key is right, but pages are encrypted by another cipher than AES-256-CBC, which SQLCipher before 4 could use.
    public static var otherCipher: Self {
        Self(
            "the key is right, but the cipher of the file is not AES-256-CBC; export it by SQLCipher 3 with the PRAGMA cipher that it was "
                + "made with"
        )
    }
    /// The key decrypts page 1, and no MAC of the file is right under it. MACs depend on the salt, too, and on `cipher_hmac_salt_mask` and
    /// `fast_kdf_iter`: one of them is another than the file was made with; or page 1 is damaged, and there is no other.
    public static var otherMACKey: Self {
        Self("the key decrypts page 1, but no MAC of the file is right")
    }
    /// The key is right for the pages of the file, and for none of the rollback journal or write-ahead log beside it, which SQLite would
    /// copy into the file: the key was changed, or a change was interrupted, and another key is in force; or it is damaged or of another
    /// database.
    public static var journalUnderOtherKey: Self {
        Self(
            "the key is right for the file, but for no page of the rollback journal or write-ahead log beside it: either the key was changed, "
                + "and another key is in force; or it is damaged or of another database: then move it away"
        )
    }
    /// The key is right for this format, whose pages have no MACs: the file was made with `cipher_use_hmac = OFF`, or somebody has
    /// removed the MACs to alter pages. If you know that it was made so, give the format as ``Configuration/format``.
    public static var withoutMACs: Self {
        Self {
            "the key is right, but the pages have no MACs: either the file was made so (cipher_use_hmac = OFF), or somebody "
                + "removed the MACs, and the content may be forged; if you know that it was made so, open it with "
                + "Configuration { $0.format = \(given: $0.format?.expression) }"
        }
    }
    /// The file has the layout that SQLite3 Multiple Ciphers writes by default, which SQLCipher cannot open.
    public static var otherLayout: Self {
        Self(
            "the file has the layout of SQLite3 Multiple Ciphers (legacy = 0), which SQLCipher cannot open; "
                + "convert it there: after its key give PRAGMA cipher = 'sqlcipher', PRAGMA legacy = 4 and PRAGMA rekey; "
                + "or its plaintext header has lost its magic string, and the right key and salt are needed to see that"
        )
    }
    /// The file has a plaintext header, so that its salt is not in it, and neither the key nor a keyring has the salt; see
    /// ``DatabaseKey/with(salt:)``.
    public static var saltMissing: Self {
        Self("the file has a plaintext header and does not contain its salt; give the salt with the key")
    }
    /// The file is encrypted, or would be created without encryption, and no key was given.
    public static var keyMissing: Self {
        Self(
            "no key was given for an encrypted database; give one to the call that opens it, "
                + "not in prepareDatabase, or set allowsPlaintext for a new plaintext file"
        )
    }
    /// The file is a SQLite database in plaintext.
    public static var notEncrypted: Self {
        Self("the file is a plaintext SQLite database; encrypt it, or open it without a key and with allowsPlaintext")
    }
    /// The file is neither a SQLite nor an encrypted database, or shorter than one page.
    public static var notADatabase: Self {
        Self {
            "the file is not a database, neither encrypted nor plaintext" + ($0.fileType.map { ": it is \($0)" } ?? "")
        }
    }
    /// The key is right, but these pages are not what was written. The others can still be read: where the engine
    /// reads nothing more on a connection that met one, as since SQLCipher 4.12, ``Database`` opens the file again for the next
    /// statement, unless databases are attached or temporary tables there; then close and open it.
    public static var damaged: Self {
        Self {
            "the key is right, but the file is damaged: \(NumberRanges($0.damagedPages ?? []).text(of: "page"))"
        }
    }
    /// The key is right for this other format; open with it as ``Configuration/format``.
    public static var otherFormat: Self {
        Self {
            guard let format = $0.format else { return "the file is in another format" }
            if Engine.current.writes(format) {
                return "the key is right, but the file is in the format of \(format); open it with "
                    + "Configuration { $0.format = \(format.expression) }"
            }
            return "the file is in the format of \(format), which SQLCipher "
                + "\(Engine.current.sqlcipherVersion ?? "of an unknown version") cannot open; "
                + (Engine.versionNeeded(by: format).map { "SQLCipher \($0) or later is needed" }
                    ?? "migrate it by `rekey migrate` when no write-ahead log is beside it")
        }
    }
    /// The SQLite in this process is not SQLCipher, or is mixed with another.
    public static var engineHasNoEncryption: Self {
        Self(
            "the SQLite library in this process cannot encrypt, or is mixed with one that cannot; "
                + "link SQLCipher only, and load no other libsqlite3 before it"
        )
    }
    /// The SQLCipher in this process hands out zeros for a page whose MAC is wrong, and leaves no sign of it that CipherDB knows;
    /// see ``Engine/damageDetection``.
    public static var engineHidesDamage: Self {
        Self { _ in
            "\(Engine.current) returns zeros for a damaged page, without a sign that CipherDB knows; "
                + "use another version of SQLCipher"
        }
    }
}
