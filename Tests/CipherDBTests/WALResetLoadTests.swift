import CipherSystem
import Foundation
import TestSupport
import Testing

/// The engine whose checkpoints wait.
private enum SlowEngine {
    static let libraries: String? = {
        let outcome = try? Program.run(
            Program.packageDirectory + "/Scripts/with-engine.sh",
            ["--libraries", "wal-race"]
        )
        return outcome?.status == 0 ? outcome?.output.trimmingCharacters(in: .newlines) : nil
    }()
}

/// Processes that write and checkpoint one database, on an engine with the WAL-reset bug whose checkpoints wait after they have read the
/// header of the WAL's index. `Scripts/engines.sh` builds it.
@Suite(
    .timeLimit(.minutes(Extent.minutesOfAHang)),
    .slow,
    .once,
    .enabled(if: SlowEngine.libraries != nil, "the engine with slow checkpoints is missing: run make engines")
)
struct WALResetLoadTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func run(_ program: String, _ arguments: [String]) throws -> Program.Outcome {
        try Program.run(
            Program.built(program),
            arguments,
            environment: ["LD_LIBRARY_PATH": SlowEngine.libraries ?? "", "CIPHERDB_WAL_RACE": "2000"]
        )
    }

    /// How many rows were committed, and how many of them are there.
    private struct Result {
        var committed = 0
        var found = 0
        var isSound = false
        var lost: Int { committed - found }
    }

    /// Runs a process in each role for the time of the test, and commands beside them, one after the other.
    private func result(of roles: [String], beside commands: [[String]] = []) async throws -> Result {
        // Off the threads of Swift's pool, which other tests need to end.
        try await SerialWorker.once { try resultOnThisThread(of: roles, beside: commands) }
    }

    private func resultOnThisThread(of roles: [String], beside commands: [[String]]) throws -> Result {
        #expect(try run("CheckpointLoad", [path, "create", "0"]).status == 0)
        let outcomes = Lock<[Int: Program.Outcome]>([:])
        let isOver = Gate()
        let ended = Gate()
        let answers = Lock<[Program.Outcome]>([])
        for (number, role) in roles.enumerated() {
            Thread {
                let outcome = try? run("CheckpointLoad", [path, role, "\(number)"])
                outcomes.withLock { $0[number] = outcome }
            }.start()
        }
        Thread {
            repeat {
                for command in commands where !isOver.passed {
                    if let outcome = try? run("rekey", command) { answers.withLock { $0.append(outcome) } }
                }
            } while !commands.isEmpty && !isOver.passed
            ended.open()
        }.start()
        Thread.sleep(forTimeInterval: Extent.isComplete ? 20 : 2)
        isOver.open()
        _ = try directory.write([], to: "test.db.stop")
        ended.wait()
        while outcomes.withLock({ $0.count < roles.count }) { Thread.sleep(forTimeInterval: 0.01) }

        var result = Result()
        for (number, role) in roles.enumerated() {
            let outcome = try #require(outcomes.withLock { $0[number] })
            #expect(outcome.status == 0, "\(role): \(outcome.errors)")
            let count = Int(outcome.output.trimmingCharacters(in: .newlines)) ?? 0
            #expect(count > 0, "\(role) did nothing")
            if Self.writing.contains(role) { result.committed += count }
        }
        for answer in answers.withLock({ $0 }) { #expect(answer.status == 0, "\(answer.errors)") }
        let words = try run("CheckpointLoad", [path, "check", "0"]).output.split { $0.isWhitespace }
        result.found = words.first.flatMap { Int($0) } ?? 0
        result.isSound = words.last == "sound"
        print(
            "\(roles.joined(separator: ", ")): \(result.committed) rows committed, \(result.lost) lost, sound: \(result.isSound)"
        )
        return result
    }

    private static let writing: Set = ["stock", "stock-both", "pool", "queue", "both", "closing", "follower"]

    @Test(arguments: [["stock", "stock-passive"], ["stock-both"]])
    func engineLosesRows(roles: [String]) async throws {
        // Whether they meet is chance.
        for _ in 0..<40 {
            let result = try await result(of: roles)
            if result.lost > 0 || !result.isSound { return }
            for name in directory.names where name.hasPrefix("test.db") {
                try FileManager.default.removeItem(atPath: directory.file(name))
            }
        }
        Issue.record("no row was lost")
    }

    @Test(arguments: [
        ["pool", "passive"], ["both"], ["pool", "pool", "queue", "sql"], ["queue", "closing", "attached"],
        ["pool", "passive", "full", "restart", "truncate"], ["follower", "passive", "vacuum"],
    ])
    func libraryLosesNothing(roles: [String]) async throws {
        let result = try await result(of: roles)
        #expect(result.lost == 0 && result.isSound)
    }

    @Test func commandsLoseNothing() async throws {
        let key = try directory.write(Array(repeating: 0xa1, count: 32), to: "key")
        let repository = directory.file("repository")
        let result = try await result(
            of: ["pool", "passive"],
            beside: [
                ["backup", path, repository, "--key-file", key],
                ["verify", path, "--key-file", key],
                ["status", path, "--key-file", key],
            ]
        )
        #expect(result.lost == 0 && result.isSound)
    }
}
