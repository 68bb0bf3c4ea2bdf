import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// `rekey keyring` is killed at random moments: the keyring opens with what it opened with before or is to open with after, and
/// opens the database.
@Suite(.slow, .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct KeyringKillTests {
    let scene: KeyringScene
    let shell: StockShell

    init() throws {
        scene = try KeyringScene()
        shell = try #require(StockShell.ofThisFormat)
    }

    @Test(arguments: Extent.share(KeyringOperation.cases))
    func killedOperationLeavesKeyringThatOpensDatabase(operation: KeyringOperation, mode: JournalMode) throws {
        try scene.prepare(for: operation, mode)
        let sound = scene.directory.file("sound")
        try FileManager.default.copyItem(atPath: scene.data, toPath: sound)
        func reset() throws {
            try FileManager.default.removeItem(atPath: scene.data)
            try FileManager.default.copyItem(atPath: sound, toPath: scene.data)
        }

        var trials = RandomTrials(
            "kills of keyring \(operation.rawValue), \(mode.rawValue)",
            "CIPHERDB_KEYRING_KILLS",
            rounds: 1
        )

        let before = try scene.ways()
        let began = ContinuousClock.now
        let whole = try run(operation)
        #expect(whole.status == 0, "\(whole.errors)")
        let duration = (ContinuousClock.now - began) / .seconds(1)
        let after = try scene.ways()
        #expect((before != after) == operation.changesSlots)
        try expectItIsWhole(operation)

        while trials.goesOn() {
            try reset()
            _ = try run(operation, killedAfter: Double.random(in: 0...(duration * 1.15), using: &trials.random))
            let found = try scene.ways()
            #expect(found == before || found == after, "\(found)")
            if operation == .initialise {
                try expectOldKeyOrKeyring()
            } else if !found.isEmpty {
                #expect(try opens(with: scene.digits()))
            }
            if operation == .backUp {
                // Where it was made already the next run says so, and tidies up all the same.
                let isMade = FileManager.default.fileExists(atPath: scene.backup)
                #expect(try run(operation).status == (isMade ? 73 : 0))
            }
            if operation.isRepeatable {
                let again = try run(operation)
                #expect(again.status == 0, "\(again.errors)")
                #expect(try scene.ways() == after)
            }
            try expectItIsWhole(operation)
        }
    }

    private func run(_ operation: KeyringOperation, killedAfter seconds: Double? = nil) throws -> Program.Outcome {
        try Program.run(
            Program.built("rekey"),
            scene.arguments(operation),
            typingBack: operation == .recovery ? 48 : nil,
            killedAfter: seconds
        )
    }

    /// Whether the stock shell reads all rows with this key, and finds nothing wrong.
    private func opens(with digits: String) -> Bool {
        let sql = "\(KeyringScene.query); PRAGMA integrity_check;"
        return (try? shell.run(scene.path, key: "key = \"x'\(digits)'\"", sql)) == [KeyringScene.answer, "ok"]
    }

    /// The stock shell opens the file with exactly one of the two keys, and the next run brings it under the keyring.
    private func expectOldKeyOrKeyring() throws {
        let hasOldKey = opens(with: String(repeating: "00", count: 32))
        let hasKeyring = FileManager.default.fileExists(atPath: scene.keyring.path)
        // The keyring is made before the database is written, and not bound to it yet.
        let key = hasKeyring ? try KeyringScene.digits(scene.keyring.unlock(scene.secret(0)).exportDatabaseKey()) : nil
        #expect((key.map(opens) ?? false) != hasOldKey)
        if hasOldKey {
            let again = try run(.initialise)
            #expect(again.status == 0, "\(again.errors)")
        }
    }

    /// The keyring opens the database, nothing is under way, and nothing is left beside them.
    private func expectItIsWhole(_ operation: KeyringOperation) throws {
        var expected = ["test.db", "test.db.keyring"]
        if operation == .erase, try scene.ways().isEmpty {
            // What the kill left of it opens nothing, and goes.
            if FileManager.default.fileExists(atPath: scene.keyring.path) { try scene.keyring.erase() }
            expected.removeLast()
        } else {
            #expect(try scene.rows() == KeyringScene.answer)
            #expect(try !scene.keyring.content().isRotationPending)
            #expect(try opens(with: scene.digits()))
        }
        if operation == .backUp {
            #expect(try scene.ways(Keyring(path: scene.backup)) == scene.ways())
            expected.insert("backup", at: 0)
        }
        let cleaned = try Program.run(Program.built("rekey"), ["cleanup", scene.path])
        #expect(cleaned.status == 0, "\(cleaned.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: scene.data).sorted()
        // A keyring that was replaced by one with other slots is kept.
        let kept = left.filter { operation == .restore && $0.hasPrefix("test.db.keyring.replaced-") }
        #expect(left.filter { !kept.contains($0) } == expected, "nothing is left")
    }
}
