import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport

/// An operation of `rekey keyring` that writes, on a database in a directory of its own.
enum KeyringOperation: String, CaseIterable, Sendable {
    case initialise, add, change, remove, upgrade, recovery
    case rotate, rotateInPlace, resume, cancel, adopt, forget
    case backUp, restore, erase

    /// Only where the database is written does its journal matter.
    var modes: [JournalMode] {
        switch self {
        case .initialise, .rotate, .rotateInPlace, .resume: [.delete, .wal]
        default: [.delete]
        }
    }

    static let cases = allCases.flatMap { operation in operation.modes.map { (operation, $0) } }

    /// Whether other secrets open the keyring afterwards.
    var changesSlots: Bool {
        switch self {
        case .initialise, .add, .change, .remove, .upgrade, .recovery, .restore, .erase: true
        case .rotate, .rotateInPlace, .resume, .cancel, .adopt, .forget, .backUp: false
        }
    }

    /// Whether the same command, given once more, ends what was killed, and says nothing against it where nothing was.
    var isRepeatable: Bool {
        switch self {
        case .resume, .cancel, .adopt, .forget, .restore: true
        default: false
        }
    }
}

/// A directory with a database of one table and its keyring, which an operation is to be done on.
struct KeyringScene {
    static let answer = "500|1000000"
    static let query = "SELECT count(*) || '|' || sum(length(a)) FROM t"

    let directory: TemporaryDirectory
    let data: String
    let path: String
    let backup: String
    /// Key files, so that the time goes into what is written: of the administrator, of a slot, and of that slot afterwards.
    let files: [String]
    let passphrase: String
    var keyring: Keyring { Keyring(besideDatabase: path) }

    init() throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        data = directory.file("data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
        path = data + "/test.db"
        backup = data + "/backup"
        files = try (0..<3).map { try directory.write([UInt8](repeating: UInt8($0), count: 32), to: "key\($0)") }
        passphrase = try directory.write("weak".utf8, to: "passphrase")
    }

    func secret(_ number: Int) throws -> KeyringSecret {
        try KeySource.file(path: files[number]).readKeyringSecret(.keyFile)
    }

    func arguments(_ operation: KeyringOperation) -> [String] {
        let admin = ["--key-file", files[0]]
        return ["keyring"]
            + {
                switch operation {
                case .initialise: ["init", path] + admin + ["--new-key-file", files[0]]
                case .add: ["add", path] + admin + ["--new-key-file", files[2]]
                case .change: ["change", path, "--key-file", files[1], "--new-key-file", files[2]]
                case .remove: ["remove", path, "2", "--force"] + admin
                case .upgrade: ["unlock", path, "--passphrase-file", passphrase]
                case .recovery: ["recovery", path] + admin
                case .rotate: ["rotate", path] + admin
                case .rotateInPlace: ["rotate", path, "--in-place"] + admin
                case .resume: ["resume", path] + admin
                case .cancel: ["cancel", path] + admin
                case .adopt: ["adopt", path] + admin
                case .forget: ["forget", path, "--yes-forget-backups"] + admin
                case .backUp: ["backup", path, backup] + admin
                case .restore: ["restore", path, directory.file("older")] + admin
                case .erase: ["erase", path, "--yes-destroy-the-data"] + admin
                }
            }()
    }

    /// Makes what the operation finds.
    func prepare(for operation: KeyringOperation, _ mode: JournalMode) throws {
        if operation == .initialise {
            let raw = try KeySource.file(path: files[0]).readRawKey()
            return try makeDatabase(mode) { try DatabaseQueue(path: path, key: raw, configuration: $0) }
        }
        let unlocked = try keyring.create(with: secret(0))
        if operation == .upgrade {
            try unlocked.add(
                .passphrase("weak"),
                derivation: PassphraseDerivation(unsafeWeak: .pbkdf2SHA512(iterations: 1000))
            )
        } else {
            try unlocked.add(secret(1))
        }
        try makeDatabase(mode) { try DatabaseQueue(path: path, key: unlocked, configuration: $0) }
        _ = try rows()
        switch operation {
        case .resume, .cancel:
            _ = try unlocked.withLock { try $0.beginRotation() }
        case .adopt:
            let copy = directory.file("copy")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try DatabaseFile(path: path).rotateKey(of: unlocked)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: copy, toPath: path)
        case .forget:
            try DatabaseFile(path: path).rotateKey(of: unlocked)
        case .restore:
            try unlocked.backUp(to: directory.file("older"))
            try unlocked.change(slot: 2, to: secret(2))
        default: break
        }
    }

    private func makeDatabase(_ mode: JournalMode, _ open: (Configuration) throws -> DatabaseQueue) throws {
        let queue = try open(Configuration { $0.journalMode = mode })
        try queue.inTransaction { database in
            try database.executeStatements("CREATE TABLE t (a)")
            let insert = try database.prepare("INSERT INTO t VALUES (randomblob(2000))")
            for _ in 0..<500 { try insert.executeUpdate() }
        }
        try queue.close()
    }

    /// Which secrets open the keyring, and how many there are: the key files, and the passphrase with the iterations of its slot.
    func ways(_ keyring: Keyring? = nil) throws -> [String] {
        let keyring = keyring ?? self.keyring
        guard FileManager.default.fileExists(atPath: keyring.path) else { return [] }
        var ways: [String] = []
        for number in files.indices where (try? keyring.unlock(secret(number))) != nil { ways.append("\(number)") }
        if let opened = try? keyring.unlock(.passphrase("weak"), upgrades: false) {
            ways.append("\(try opened.content().slot(opened.slot)?.derivation.map { "\($0)" } ?? "")")
        }
        guard !ways.isEmpty else { return [] }
        return try ways + ["of \(keyring.content().slots.count)"]
    }

    /// All rows, by the keyring; nil where the database is not under it.
    func rows() throws -> String? {
        let database = Database(path: path)
        defer { database.close() }
        do {
            try database.open(key: .keyring(keyring, unlockedBy: secret(0)), flags: .readWrite)
        } catch let error as KeyringError where error.code == .otherDatabase {
            return nil
        }
        return try database.string(forQuery: SQL(unsafe: Self.query))
    }

    /// The digits of the key that the database is under, be a change of it pending or not, be it an older one.
    func digits() throws -> String {
        try Self.digits(DatabaseFile(path: path).key(in: keyring.unlock(secret(0))).exported())
    }

    static func digits(_ key: SecretBytes) throws -> String {
        try key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
