import CipherDB
import Foundation
import TestSupport
import Testing

/// The command is killed at random moments, and then looked at by the stock shell.
@Suite(.slow, .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct KillTests {
    /// What the file can be, and how the shell opens it.
    struct State {
        let key: Int?
        let pageSize: Int?

        static let old = State(key: 0, pageSize: nil)
        static let new = State(key: 1, pageSize: nil)
        static let plaintext = State(key: nil, pageSize: nil)
        static let largePages = State(key: 0, pageSize: 8192)
    }

    enum Operation: String, CaseIterable, Sendable {
        case change, changeInPlace, encrypt, decrypt, migrate

        var before: State { self == .encrypt ? .plaintext : .old }

        var after: State {
            switch self {
            case .change, .changeInPlace: .new
            case .encrypt: .old
            case .decrypt: .plaintext
            case .migrate: .largePages
            }
        }
    }

    let directory: TemporaryDirectory
    let path: String
    let keyFiles: [String]
    let shell: StockShell

    init() throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.file("data"), withIntermediateDirectories: false)
        path = directory.file("data/test.db")
        // Raw keys, so that the time goes into the pages.
        keyFiles = try [
            directory.write([UInt8](repeating: 1, count: 32), to: "key0"),
            directory.write([UInt8](repeating: 2, count: 32), to: "key1"),
        ]
        shell = try #require(StockShell.ofThisFormat)
    }

    private func arguments(_ operation: Operation) -> [String] {
        let changing = ["change", path, "--key-file", keyFiles[0], "--new-key-file", keyFiles[1]]
        return switch operation {
        case .change: changing
        case .changeInPlace: changing + ["--in-place"]
        case .encrypt: ["encrypt", path, "--key-file", keyFiles[0]]
        case .decrypt: ["decrypt", path, "--key-file", keyFiles[0], "--yes-write-plaintext"]
        case .migrate: ["migrate", path, "--key-file", keyFiles[0], "--page-size", "8192"]
        }
    }

    /// The lines that the shell answers, or nil where it cannot open the file so.
    private func ask(_ state: State) -> [String]? {
        let key = state.key.map { "key = \"x'" + String(repeating: $0 == 0 ? "01" : "02", count: 32) + "'\"" }
        return try? shell.run(
            path,
            key: key,
            settings: state.pageSize.map { ["cipher_page_size = \($0)"] } ?? [],
            "SELECT count(*) || '|' || sum(length(a)) FROM t; PRAGMA integrity_check;"
        )
    }

    @Test(arguments: Extent.share(Extent.pairs(Operation.allCases, [JournalMode.delete, .wal])))
    func killedRunLeavesOldOrNewDatabase(
        operation: Operation,
        mode: JournalMode
    ) throws {
        let isPlaintext = operation.before.key == nil
        let queue = try DatabaseQueue(
            path: path,
            key: isPlaintext ? nil : .raw(SecretBytes(copying: [UInt8](repeating: 1, count: 32))),
            configuration: Configuration {
                $0.journalMode = mode
                $0.allowsPlaintext = isPlaintext
            }
        )
        try queue.inTransaction { database in
            try database.executeStatements("CREATE TABLE t (a)")
            let insert = try database.prepare("INSERT INTO t VALUES (randomblob(2000))")
            for _ in 0..<3000 { try insert.executeUpdate() }
        }
        try queue.close()
        let sound = directory.file("sound.db")
        try FileManager.default.copyItem(atPath: path, toPath: sound)

        var trials = RandomTrials("kills of \(operation.rawValue), \(mode.rawValue)", "CIPHERDB_KILLS", rounds: 2)

        // How long a run takes that nobody kills.
        let began = ContinuousClock.now
        let whole = try Program.run(Program.built("rekey"), arguments(operation))
        #expect(whole.status == 0, "\(whole.errors)")
        let duration = (ContinuousClock.now - began) / .seconds(1)
        var isDone = true
        while trials.goesOn() {
            if isDone {
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.copyItem(atPath: sound, toPath: path)
            }
            _ = try Program.run(
                Program.built("rekey"),
                arguments(operation),
                killedAfter: Double.random(in: 0...(duration * 1.15), using: &trials.random)
            )
            // First the shell: it finds the file as the kill left it.
            let (before, after) = (ask(operation.before), ask(operation.after))
            #expect((before == nil) != (after == nil), "exactly one of the two opens")
            #expect(before ?? after == ["3000|6000000", "ok"])
            isDone = after != nil
            let cleaned = try Program.run(Program.built("rekey"), ["cleanup", path])
            #expect(cleaned.status == 0, "\(cleaned.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.file("data"))
            #expect(left == ["test.db"], "nothing is left")
        }
    }
}
