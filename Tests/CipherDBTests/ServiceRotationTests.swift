import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import ServiceInstance

/// Documentation/HowTo/RotateAService.md, done: eight processes use one database while its key is rotated, and while the process
/// that rotates it is killed.
@Suite(.slow, .timeLimit(.minutes(Extent.minutesOfAHang))) struct ServiceRotationTests {
    enum Way: String, CaseIterable, Sendable {
        case command, library
    }

    static let instances = 8

    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Those in rollback mode have the database open while the key changes.
    @Test(.serialized, arguments: Extent.share(Extent.pairs(Way.allCases, [JournalMode.wal, .delete])))
    func serviceSurvivesRotationsAndKills(way: Way, mode: JournalMode) async throws {
        let scene = ServiceScene(directory: directory.path, mode: mode)
        try scene.make()
        let processes = try (0..<Self.instances).map { try scene.start("\($0)") }
        do {
            try await rotate(way, scene)
        } catch {
            Issue.record(error)
        }
        try scene.tell("stop")
        for process in processes {
            #expect(try process.wait() == 0)
        }
        try checkContent(scene)
    }

    private func rotate(_ way: Way, _ scene: ServiceScene) async throws {
        try await expectProgress(scene)
        let old = try scene.currentKey()
        let began = ContinuousClock.now
        try await rotateWhole(way, scene)
        let duration = (ContinuousClock.now - began) / .seconds(1)
        #expect(try !(scene.currentKey() == old) && !scene.opens(with: old))
        try await expectProgress(scene)
        var trials = RandomTrials(
            "kills of a rotation of a service, \(way.rawValue), \(scene.mode.rawValue)",
            "CIPHERDB_ROTATION_KILLS",
            rounds: 2
        )
        var (kills, rotated) = (0, 0)
        while trials.goesOn() {
            let before = try scene.currentKey()
            kills += 1
            try await kill(way, scene, after: Double.random(in: 0...(duration * 1.15), using: &trials.random))
            try? FileManager.default.removeItem(atPath: scene.path + ".maintenance")
            if scene.mode != .wal { try resolve(scene) }
            try await expectProgress(scene)
            for _ in 0..<10 where try scene.isRotationPending() { try await reopen(scene) }
            #expect(try !scene.isRotationPending())
            if try !(scene.currentKey() == before) { rotated += 1 }
        }
        try await rotateWhole(way, scene)
        try await expectProgress(scene)
        print("a rotation of a service takes \(duration) s; \(rotated) of \(kills) that were killed rotated")
    }

    /// Instances that had not closed the database yet when the rotation was killed have it open still; an opening ends the rotation.
    private func reopen(_ scene: ServiceScene) async throws {
        let marker = scene.path + ".maintenance"
        try Data().write(to: URL(fileURLWithPath: marker))
        try await Task.sleep(for: .seconds(1))
        try FileManager.default.removeItem(atPath: marker)
        try await expectProgress(scene)
    }

    /// Every instance writes.
    private func expectProgress(_ scene: ServiceScene) async throws {
        let before = scene.acknowledged()
        try await eventually(within: .seconds(60)) {
            zip(before, scene.acknowledged()).allSatisfy { $0 + 3 <= $1 }
        }
    }

    // MARK: Rotating

    private func rotateWhole(_ way: Way, _ scene: ServiceScene) async throws {
        switch way {
        case .command:
            let outcome = try rotateByCommand(scene)
            #expect(outcome.status == 0, "\(outcome.errors)")
            try? FileManager.default.removeItem(atPath: scene.path + ".maintenance")
        case .library:
            try scene.tell("rotate")
            try await eventually(within: .seconds(90)) { scene.has("rotated") }
            try scene.forget("rotated")
        }
    }

    private func rotateByCommand(_ scene: ServiceScene, killedAfter seconds: Double? = nil) throws -> Program.Outcome {
        if scene.mode == .wal { try scene.tell("data/test.db.maintenance") }
        return try rekey("rotate", scene, scene.mode == .wal ? [] : ["--in-place"], killedAfter: seconds)
    }

    /// In rollback mode no instance opens the database again, and undoes the rotation, while the old key is in force.
    private func resolve(_ scene: ServiceScene) throws {
        let undone = try rekey("cancel", scene)
        guard undone.status != 0 else { return }
        let completed = try rekey("resume", scene)
        #expect(completed.status == 0, "\(undone.errors)\(completed.errors)")
    }

    private func rekey(
        _ command: String,
        _ scene: ServiceScene,
        _ options: [String] = [],
        killedAfter seconds: Double? = nil
    ) throws -> Program.Outcome {
        try Program.run(
            Program.built("rekey"),
            ["keyring", command, scene.path, "--key-file", scene.keyFile, "--wait", "60"] + options,
            killedAfter: seconds
        )
    }

    private func kill(_ way: Way, _ scene: ServiceScene, after seconds: Double) async throws {
        switch way {
        case .command: _ = try rotateByCommand(scene, killedAfter: seconds)
        case .library:
            let process = try scene.start("rotate")
            try await eventually(within: .seconds(60)) { scene.has("rotator") }
            try await Task.sleep(for: .seconds(seconds))
            process.kill(SIGKILL)
            #expect(try process.wait() == -SIGKILL)
            try scene.forget("rotator")
            try? scene.forget("rotated")
        }
    }

    // MARK: Afterwards

    private func checkContent(_ scene: ServiceScene) throws {
        let acknowledged = scene.acknowledged()
        let queue = try DatabaseQueue(
            path: scene.path,
            key: .keyring(Keyring(besideDatabase: scene.path), unlockedBy: scene.secret())
        )
        let found = try queue.read { database in
            try (0..<Self.instances).map { number in
                try database.int(forQuery: "SELECT count(*) FROM visits WHERE instance = ?", number)
            }
        }
        #expect(found == acknowledged)
        #expect(try queue.integrityCheck() == [])
        try queue.close()
        #expect(try !scene.isRotationPending())
        let left = try FileManager.default.contentsOfDirectory(atPath: scene.data).sorted()
        #expect(left == ["test.db", "test.db.keyring"])
        let tally = try (0..<Self.instances).reduce(into: [String: Int]()) { sum, number in
            let own = try JSONDecoder().decode([String: Int].self, from: Data(scene.told("tally-\(number)").utf8))
            sum.merge(own) { $0 + $1 }
        }
        #expect(Set(tally.keys).isSubset(of: ["reads", "unavailable", "busy"]), "\(tally)")
        print("a service in \(scene.mode.rawValue) mode: \(acknowledged.reduce(0, +)) writes, \(tally)")
    }
}

extension ServiceScene {
    /// Makes the database, which is open nowhere then.
    fileprivate func make() throws {
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
        try tell("key", String(repeating: "k", count: 32))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
        let unlocked = try Keyring(besideDatabase: path).create(with: secret())
        let mode = mode
        let queue = try DatabaseQueue(
            path: path,
            key: unlocked,
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inTransaction { database in
            try database.executeStatements(
                """
                CREATE TABLE visits (instance, number, PRIMARY KEY (instance, number));
                CREATE TABLE copies (instance, number, PRIMARY KEY (instance, number));
                CREATE TRIGGER copying AFTER INSERT ON visits BEGIN INSERT INTO copies VALUES (new.instance, new.number); END;
                CREATE TABLE filling (a)
                """
            )
            let insert = try database.prepare("INSERT INTO filling VALUES (randomblob(2000))")
            for _ in 0..<1500 { try insert.executeUpdate() }
        }
        try queue.close()
    }

    /// Starts a process of the service.
    fileprivate func start(_ what: String) throws -> StartedProgram {
        try StartedProgram(Program.built("ServiceInstance"), [directory, mode.rawValue, what])
    }

    /// How many writes each instance has acknowledged.
    fileprivate func acknowledged() -> [Int] {
        (0..<ServiceRotationTests.instances).map { number in
            Int((try? Platform.status(of: directory + "/acknowledged-\(number)").size) ?? 0)
        }
    }

    fileprivate func currentKey() throws -> DatabaseKey {
        try Keyring(besideDatabase: path).unlock(secret()).databaseKey()
    }

    fileprivate func isRotationPending() throws -> Bool {
        try Keyring(besideDatabase: path).content().isRotationPending
    }

    fileprivate func opens(with key: DatabaseKey) throws -> Bool {
        let database = Database(path: path, configuration: Configuration { $0.busyTimeout = .seconds(60) })
        do {
            try database.open(key: key, flags: .readWrite)
            return true
        } catch KeyError.wrongKey {
            return false
        }
    }
}
