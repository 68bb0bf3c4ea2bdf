import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// `rekey keyring` is killed at random moments: the keyring opens with what it opened with before or is to open with after, and
/// opens the database.
///
/// `CIPHERDB_KILLS` and `CIPHERDB_KILL_SEED` are those of `KillTests`.
@Suite(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"), .serialized)
struct KeyringKillTests {
    enum Operation: String, CaseIterable, Sendable {
        case initialise, add, change, remove, upgrade, rotate, rotateInPlace
    }

    let folder: TemporaryFolder
    let path: String
    /// Key files, so that the time goes into what is written: of the administrator, of a slot, and of that slot afterwards.
    let files: [String]
    let passphrase: String
    let shell: StockShell
    var keyring: Keyring { Keyring(besideDatabase: path) }

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder.file("data"), withIntermediateDirectories: false)
        path = folder.file("data/test.db")
        files = try (0..<3).map { try folder.write([UInt8](repeating: UInt8($0), count: 32), to: "key\($0)") }
        passphrase = try folder.write("weak".utf8, to: "passphrase")
        shell = try #require(StockShell.all.last { $0.format == Engine.current.formats.first?.version })
    }

    private func secret(_ number: Int) throws -> KeyringSecret {
        try KeySource.file(path: files[number]).readKeyringSecret(.keyFile)
    }

    private func arguments(_ operation: Operation) -> [String] {
        let admin = ["--key-file", files[0]]
        return ["keyring"]
            + {
                switch operation {
                case .initialise: ["init", path] + admin + ["--new-key-file", files[0]]
                case .add: ["add", path] + admin + ["--new-key-file", files[2]]
                case .change: ["change", path, "--key-file", files[1], "--new-key-file", files[2]]
                case .remove: ["remove", path, "2", "--force"] + admin
                case .upgrade: ["unlock", path, "--passphrase-file", passphrase]
                case .rotate: ["rotate", path] + admin
                case .rotateInPlace: ["rotate", path, "--in-place"] + admin
                }
            }()
    }

    /// Which secrets open the keyring: those of the files, and the passphrase with the iterations of its slot.
    private func ways() throws -> [String] {
        guard FileManager.default.fileExists(atPath: keyring.path) else { return [] }
        var ways: [String] = []
        for number in files.indices where (try? keyring.unlock(secret(number))) != nil { ways.append("\(number)") }
        if let opened = try? keyring.unlock(.passphrase("weak"), upgrades: false) {
            ways.append("\(try opened.content().slot(opened.slot)?.derivation.map { "\($0)" } ?? "")")
        }
        return ways
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

    /// All rows, by the keyring; nil where the database is not under it.
    private func rows() throws -> String? {
        let database = Database(path: path)
        defer { database.close() }
        do {
            try database.open(keyring: keyring, unlockedBy: secret(0), flags: .readWrite)
        } catch let error as KeyringError where error.problem == .otherDatabase {
            return nil
        }
        return try database.string(forQuery: "SELECT count(*) || '|' || sum(length(a)) FROM t")
    }

    private static let answer = "500|1000000"

    @Test(arguments: Operation.allCases, [JournalMode.delete, .wal])
    func aKilledOperationLeavesAKeyringThatOpensTheDatabase(operation: Operation, mode: JournalMode) throws {
        // Only where the database is written does its journal matter.
        guard mode == .delete || [.initialise, .rotate, .rotateInPlace].contains(operation) else { return }
        if operation == .initialise {
            let raw = try KeySource.file(path: files[0]).readRawKey()
            try makeDatabase(mode) { try DatabaseQueue(path: path, key: raw, configuration: $0) }
        } else {
            let unlocked = try keyring.create(with: secret(0))
            if operation == .upgrade {
                try unlocked.add(
                    .passphrase("weak"),
                    derivation: PassphraseDerivation(unsafeWeak: .pbkdf2SHA512(iterations: 1000))
                )
            } else {
                try unlocked.add(secret(1))
            }
            try makeDatabase(mode) { try DatabaseQueue(path: path, keyring: unlocked, configuration: $0) }
            _ = try rows()
        }
        let data = folder.file("data")
        let sound = folder.file("sound")
        try FileManager.default.copyItem(atPath: data, toPath: sound)
        func reset() throws {
            try FileManager.default.removeItem(atPath: data)
            try FileManager.default.copyItem(atPath: sound, toPath: data)
        }

        let environment = ProcessInfo.processInfo.environment
        let kills = environment["CIPHERDB_KILLS"].flatMap { Int($0) } ?? 4
        let seed = environment["CIPHERDB_KILL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        print("kills: keyring \(operation.rawValue), \(mode.rawValue): \(kills), CIPHERDB_KILL_SEED=\(seed)")
        var random = SplitMix(seed)

        let before = try ways()
        let began = ContinuousClock.now
        let whole = try Program.run(Program.built("rekey"), arguments(operation))
        #expect(whole.status == 0, "\(whole.errors)")
        let duration = (ContinuousClock.now - began) / .seconds(1)
        let after = try ways()
        #expect(try rows() == Self.answer)
        #expect((before == after) == (operation == .rotate || operation == .rotateInPlace))

        for _ in 0..<kills {
            try reset()
            _ = try Program.run(
                Program.built("rekey"),
                arguments(operation),
                killedAfter: Double.random(in: 0...(duration * 1.15), using: &random)
            )
            let found = try ways()
            #expect(found == before || found == after, "\(found)")
            if operation == .initialise {
                try expectOldKeyOrKeyring()
            } else {
                #expect(try rows() == Self.answer)
                #expect(try !keyring.content().isRotationPending)
            }
            try expectNothingIsLeft()
        }
    }

    /// The stock shell opens the file with exactly one of the two keys, and the next run brings it under the keyring.
    private func expectOldKeyOrKeyring() throws {
        var digits = [String(repeating: "00", count: 32)]
        if FileManager.default.fileExists(atPath: keyring.path) {
            digits.append(
                try keyring.unlock(secret(0)).exportDatabaseKey().withUnsafeBytes {
                    String(decoding: $0, as: UTF8.self)
                }
            )
        }
        let answers = digits.map {
            try? shell.run(
                path,
                key: "key = \"x'\($0)'\"",
                "SELECT count(*) || '|' || sum(length(a)) FROM t; PRAGMA integrity_check;"
            )
        }
        #expect(answers.compactMap { $0 } == [[Self.answer, "ok"]])
        if answers[0] != nil {
            let again = try Program.run(Program.built("rekey"), arguments(.initialise))
            #expect(again.status == 0, "\(again.errors)")
        }
        #expect(try rows() == Self.answer)
    }

    private func expectNothingIsLeft() throws {
        let digits = try keyring.unlock(secret(0)).exportDatabaseKey().withUnsafeBytes {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(try shell.run(path, key: "key = \"x'\(digits)'\"", "PRAGMA integrity_check;") == ["ok"])
        let cleaned = try Program.run(Program.built("rekey"), ["cleanup", path])
        #expect(cleaned.status == 0, "\(cleaned.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("data")).sorted()
        #expect(left == ["test.db", "test.db.keyring"], "nothing is left")
    }
}
