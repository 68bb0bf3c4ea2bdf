import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Every state that a crash can leave of a rotation, enumerated from the calls that the command makes.
@Suite(.slow, .enabled(if: CrashStates.isAvailable, "strace is missing, or may not trace: run make setup"))
struct CrashStateTests {
    enum Operation: String, CaseIterable, Sendable {
        case rotate, rotateInPlace, change
    }

    let directory: TemporaryDirectory
    let data: String
    let adminFile: String
    let otherFile: String

    init() throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        data = URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path + "/data"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
        adminFile = try directory.write([UInt8](repeating: 1, count: 32), to: "admin")
        otherFile = try directory.write([UInt8](repeating: 2, count: 32), to: "other")
    }

    private func secret(_ path: String) throws -> KeyringSecret {
        try KeySource.file(path: path).readKeyringSecret(.keyFile)
    }

    private func trace(_ operation: Operation, _ mode: JournalMode) throws -> CrashStates {
        let path = data + "/test.db"
        let keyring = Keyring(besideDatabase: path)
        let unlocked = try keyring.create(with: secret(adminFile))
        let queue = try DatabaseQueue(
            path: path,
            key: unlocked,
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inTransaction { database in
            try database.executeStatements("CREATE TABLE t (a)")
            for _ in 0..<20 { try database.executeUpdate("INSERT INTO t VALUES (randomblob(4000))") }
        }
        try queue.close()
        // The generation is noted, so that an opening has nothing to write.
        try DatabaseQueue(path: path, key: unlocked).close()
        let arguments =
            switch operation {
            case .rotate: ["rotate", path, "--key-file", adminFile]
            case .rotateInPlace: ["rotate", path, "--in-place", "--key-file", adminFile]
            case .change: ["change", path, "--key-file", adminFile, "--new-key-file", otherFile]
            }
        return try CrashStates(of: Program.built("rekey"), ["keyring"] + arguments, in: data)
    }

    /// What is lost in `state`; nil where the keyring opens with one of the secrets, and opens the database there, with every
    /// row.
    private func loss(in state: String, endedBy ending: Ending = .opening) -> String? {
        let path = state + "/test.db"
        let keyring = Keyring(besideDatabase: path)
        let opening = [adminFile, otherFile].filter { (try? keyring.unlock(secret($0))) != nil }
        guard opening.count == 1 else { return "\(opening.count) of the two secrets open the keyring" }
        do {
            try end(ending, DatabaseFile(path: path), keyring.unlock(secret(opening[0])))
        } catch {
            return "\(ending): \(error)"
        }
        // Twice: what the first opening completes or undoes must be whole, too.
        for _ in 0..<2 {
            let database = Database(path: path)
            defer { database.close() }
            do {
                try database.open(key: .keyring(keyring, unlockedBy: secret(opening[0])), flags: .readWrite)
                let found = try database.string(forQuery: "SELECT count(*) || '|' || sum(length(a)) FROM t")
                let check = try database.string(forQuery: "PRAGMA integrity_check")
                guard found == "20|80000", check == "ok" else { return "\(found ?? ""), \(check ?? "")" }
                guard try !keyring.content().isRotationPending else { return "a change is pending" }
            } catch {
                return "\(error)"
            }
        }
        return nil
    }

    /// What ends the interrupted change.
    enum Ending: CaseIterable {
        case opening, resume, cancel
    }

    private func end(_ ending: Ending, _ file: DatabaseFile, _ keyring: UnlockedKeyring) throws {
        guard ending != .opening, try keyring.content().isRotationPending else { return }
        if ending == .cancel {
            do {
                return try file.cancelRotation(of: keyring)
            } catch RekeyError.notStarted {
                // The new key is in force.
            }
        }
        try file.resumeRotation(of: keyring)
    }

    @Test(arguments: Extent.share(Extent.pairs(Operation.allCases, [JournalMode.delete, .wal])))
    func keyringOpensDatabaseAfterCrash(operation: Operation, mode: JournalMode) throws {
        var trials = RandomTrials("torn states of \(operation.rawValue), \(mode.rawValue)", "CIPHERDB_TORN", rounds: 1)
        let states = try trace(operation, mode)
        let state = directory.file("state")
        var (tried, losses) = (0, 0)
        // By default every other call, chosen by the seed.
        let first = Extent.isComplete ? 0 : Int(trials.seed % 2)
        for moment in stride(from: first, to: states.count, by: Extent.isComplete ? 1 : 2) {
            let every: [CrashStates.Leftover] =
                [.everything, .nothing] + Array(repeating: .something, count: trials.rounds)
            // By default one of them after each call, in turns.
            let leftovers = Extent.isComplete ? every : [every[moment / 2 % every.count]]
            for leftover in leftovers {
                try states.write(after: moment, leftover, to: state, using: &trials.random)
                tried += 1
                let ending = Ending.allCases.randomElement(using: &trials.random) ?? .opening
                let loss = loss(in: state, endedBy: ending)
                #expect(loss == nil, "after call \(moment), \(leftover), CIPHERDB_SEED=\(trials.seed)")
            }
            // The control: with a disk that lies about syncing there must be losses, or this proves nothing. Of 60 tries none was one once.
            for _ in 0..<(operation == .change ? 300 : 1) where Extent.isComplete || losses == 0 {
                try states.write(after: moment, .something, ignoringSync: true, to: state, using: &trials.random)
                if loss(in: state) != nil { losses += 1 }
            }
        }
        print(
            "crash states: \(operation.rawValue), \(mode.rawValue): \(states.count) moments, \(tried) states, none lost; "
                + "\(losses) lost where syncing has no effect"
        )
        #expect(losses > 0)
    }
}
