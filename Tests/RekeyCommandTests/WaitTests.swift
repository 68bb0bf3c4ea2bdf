import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

/// How long operations wait for the locks of others.
@Suite(.atTheEnds) struct WaitTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        try SampleFile.make(at: path, under: .sample("old"))
        for name in ["old", "new"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
    }

    static let commands = [
        "inspect test.db --key-file old", "verify test.db --key-file old",
        "change test.db --key-file old --new-key-file new",
        "change --in-place test.db --key-file old --new-key-file new",
        "decrypt test.db --key-file old --yes-write-plaintext",
        "migrate test.db --key-file old --page-size 8192", "copy test.db out.db --key-file old",
        "recover test.db out.db --key-file old", "cleanup test.db",
        "keyring init test.db --key-file old --new-key-file new",
    ]

    private func rekey(_ line: String) throws -> Program.Outcome {
        try Program.rekey(line, in: directory)
    }

    /// Runs `body` while another connection has the file locked.
    private func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let holder = Database(path: path)
        try holder.open(key: .sample("old"))
        defer { holder.close() }
        try holder.executeStatements("BEGIN EXCLUSIVE")
        return try body()
    }

    @Test(arguments: commands) func commandWaitsAsLongAsItIsTold(_ command: String) throws {
        _ = try directory.write([1], to: "test.db.rekey-0123456789abcdef")
        try locked {
            let told = "waiting for a lock of another process, up to 0.6 s\n"
            let waited = try rekey("\(command) --wait 0.6")
            #expect(waited.status == 75 && waited.errors.contains("rekey: test.db: \(told)"), "\(waited.errors)")
            let holder = "process \(ProcessInfo.processInfo.processIdentifier) holds a lock for writing"
            #expect(
                waited.errors.contains(/test.db: .*waited (0\.[5-9]|[1-9]\d*\.\d) s/) && waited.errors.contains(holder),
                "\(waited.errors)"
            )
            for options in ["--wait 0", "--wait 0.6 --quiet"] {
                let quiet = try rekey("\(command) \(options)")
                #expect(quiet.status == 75 && !quiet.errors.contains("waiting"), "\(quiet.errors)")
            }
        }
    }

    @Test func commandGoesOnWhenLockIsReleased() throws {
        let holder = Database(path: path)
        try holder.open(key: .sample("old"))
        try holder.executeStatements("BEGIN EXCLUSIVE")
        let program = try StartedProgram(
            Program.built("rekey"),
            ["verify", path, "--key-file", directory.file("old"), "--wait", "600"],
            output: .none,
            errors: .piped
        )
        // The line comes while it waits.
        #expect(String(decoding: program.errors.availableData, as: UTF8.self).contains("up to 600 s"))
        holder.close()
        #expect(try program.wait() == 0)
    }

    @Test(arguments: ["-1", "x", "nan", "86401"]) func impossibleWaitIsRefused(_ seconds: String) throws {
        let outcome = try rekey("verify test.db --key-file old --wait=\(seconds)")
        #expect(outcome.status == 64 && outcome.errors.contains("wait"), "\(outcome.errors)")
    }

    /// Each would wait five seconds for each of its locks by itself, and report nothing.
    @Test func operationHasOneLimitForAllLocks() throws {
        let key = try DatabaseKey.sample("old")
        let file = DatabaseFile(path: path)
        let operations: [(String, () throws -> Void)] = [
            ("verify", { _ = try file.verify(key: key) }),
            ("copy", { try file.copy(key: key, to: directory.file("out.db")) }),
            ("change", { try file.changeKey(from: key, to: .sample("new")) }),
            ("in place", { _ = try file.changeKeyInPlace(from: key, to: .sample("new")) }),
            ("recover", { _ = try file.recover(key: key, to: directory.file("out.db")) }),
            ("clean up", { _ = try file.cleanUp() }),
            ("inspect", { _ = try file.inspect(key: key) }), ("map", { _ = try file.map(key: key) }),
        ]
        _ = try directory.write([1], to: "test.db.rekey-0123456789abcdef")
        let holder = Database(path: path)
        try holder.open(key: key)
        try holder.executeStatements("BEGIN EXCLUSIVE")
        for (name, operation) in operations {
            let reports = Lock(0)
            let wait = LockWait(limit: .milliseconds(400)) { reports.withLock { $0 += 1 } }
            LockWait.limiting(to: wait) {
                let error = #expect(throws: DatabaseError.self, "\(name)") { try operation() }
                #expect(error?.code.primary == .busy, "\(name)")
            }
            #expect(reports.withLock { $0 } == 1, "\(name)")
            #expect(!wait.mayTryAgain(), "\(name): the time is used up")
        }
        holder.close()
    }

    @Test func innerLimitDoesNotCount() {
        let outer = LockWait(limit: .seconds(1))
        LockWait.limiting(to: outer) {
            LockWait.limiting(to: LockWait(limit: .seconds(2))) { #expect(LockWait.current === outer) }
            #expect(LockWait.current(or: .seconds(3)) === outer && LockWait.current(or: .zero) !== outer)
        }
        #expect(LockWait.current == nil && !LockWait(limit: .zero).mayTryAgain())
        let short = LockWait(limit: .milliseconds(20))
        var attempts = 0
        while short.mayTryAgain() { attempts += 1 }
        #expect((1...20).contains(attempts) && !short.mayTryAgain())
    }
}
