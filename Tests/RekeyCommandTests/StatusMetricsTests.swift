import ArgumentParser
import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import rekey

/// The metrics of `rekey status`, and the file that they are written to.
@Suite(.atTheEnds) struct StatusMetricsTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try SampleFile.make(at: directory.file("good.db"), under: .sample("k"))
        _ = try directory.write(DatabaseKey.sampleBytes("k"), to: "k")
        _ = try directory.write("SQLite format 3\0".utf8 + [UInt8](repeating: 0, count: 5000), to: "plain.db")
    }

    private var metrics: String { directory.file("rekey.prom") }

    private func status(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey("status " + arguments, in: directory, before: "umask 077")
    }

    private func content() throws -> String { try String(contentsOfFile: metrics, encoding: .utf8) }

    @Test func metricsSayWhatWasFound() throws {
        let outcome = try status("good.db plain.db missing.db --key-file k --prometheus rekey.prom")
        #expect(outcome.status == 65 && outcome.output.contains("3 files, 2 failed"), "\(outcome.errors)")
        let found = try MetricsText(content())
        for (name, good, plain, missing) in [
            ("encrypted", 1.0, 0.0, 0.0), ("verified", 1, 0, 0), ("exit_status", 0, 65, 66),
            ("damaged_pages", 0, nil, nil),
        ] as [(String, Double?, Double?, Double?)] {
            #expect(found.value("rekey_database_\(name)", "good.db") == good, "\(name)")
            #expect(found.value("rekey_database_\(name)", "plain.db") == plain, "\(name)")
            #expect(found.value("rekey_database_\(name)", "missing.db") == missing, "\(name)")
        }
        let size = try FileManager.default.attributesOfItem(atPath: directory.file("good.db"))[.size] as? Int
        #expect(found.value("rekey_database_size_bytes", "good.db") == size.map(Double.init))
        #expect(try #require(found.value("rekey_database_checked_pages", "good.db")) > 10)
        #expect(try #require(found.value("rekey_database_check_duration_seconds", "good.db")) > 0)
        let info = MetricsText.Sample(
            name: "rekey_database_info",
            labels: ["path": "plain.db", "state": "plaintext"]
        )
        #expect(found.samples[info] == 1)
        let time = try #require(found.value("rekey_check_timestamp_seconds"))
        #expect(abs(time - Date().timeIntervalSince1970) < 60 && found.value("rekey_check_complete") == 1)
    }

    @Test func unprovedFileHasMetricZero() throws {
        #expect(try status("good.db --prometheus rekey.prom").status == 0)
        let found = try MetricsText(content())
        #expect(found.value("rekey_database_verified", "good.db") == 0)
        #expect(found.value("rekey_database_encrypted", "good.db") == 1)
        #expect(found.value("rekey_database_checked_pages", "good.db") == nil)
        let printed = try status("good.db plain.db --prometheus -")
        #expect(try MetricsText(printed.output).value("rekey_database_encrypted", "plain.db") == 0)
        #expect(printed.status == 65)
        #expect(try status("good.db --prometheus - --json").status == 64)
    }

    @Test func keyringHasMetrics() throws {
        let secret = try KeyringSecret.sample("s")
        let path = directory.file("ring.db")
        try SampleFile.make(at: path, under: Keyring(besideDatabase: path), secret)
        let content = try Keyring(besideDatabase: path).content()
        let found = try MetricsText(status("ring.db --prometheus -").output)
        #expect(found.value("rekey_keyring_sequence_number", "ring.db") == Double(content.generation))
        #expect(found.value("rekey_keyring_rotation_pending", "ring.db") == 0)
        let created = try #require(found.value("rekey_keyring_key_created_timestamp_seconds", "ring.db"))
        #expect(created == content.keyCreated.timeIntervalSince1970.rounded(.down))
        try flipByte(of: Keyring(besideDatabase: path).path, at: 40)
        let damaged = try MetricsText(status("ring.db --prometheus -").output)
        #expect(damaged.value("rekey_keyring_readable", "ring.db") == 0)
        #expect(damaged.value("rekey_keyring_sequence_number", "ring.db") == nil)
    }

    @Test func labelsHoldAnyName() throws {
        let names: [[UInt8]] = [
            Array("a\"b\\c\nd.db".utf8), Array("\\n\r\u{2028}\u{1b}}{,= \u{FFFD}.db".utf8), [0x61, 0xFF], [0x61, 0xFE],
            Array("a\u{FFFD}ff".utf8),
        ]
        let checks = names.map { name in
            let path = String(pathBytes: name)
            return DatabaseCheck(
                path,
                DatabaseFile(path: path),
                keys: nil,
                checksStructure: true,
                keyring: nil,
                progress: { _ in }
            )
        }
        let text = StatusMetrics.text(checks, isComplete: true)
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.changesDisplay })
        let found = try MetricsText(text)
        let labels = Set(
            found.samples.keys.compactMap { $0.name == "rekey_database_verified" ? $0.labels["path"] : nil }
        )
        #expect(labels.count == names.count, "each name is another")
        #expect(labels.isSuperset(of: ["a\"b\\c\nd.db", "a\u{FFFD}ff", "a\u{FFFD}fe", "a\u{FFFD}\u{FFFD}ff"]))
        let twice = try status("good.db good.db --prometheus rekey.prom")
        #expect(twice.status == 64 && twice.errors.contains("once"))
    }

    @Test func metricsHoldNoSecret() throws {
        let outcome = try status("good.db --key-file k --prometheus rekey.prom --json")
        let secret = DatabaseKey.sampleBytes("k").map { String(format: "%02x", $0) }.joined()
        let text = try outcome.output + outcome.errors + content()
        #expect(outcome.status == 0 && !text.contains(secret) && !text.contains("k\0\0"))
        #expect(!text.contains("key-file"))
    }

    @Test func readersSeeOldOrNewMetrics() throws {
        let file = MetricsFile(path: metrics, firstLine: StatusMetrics.firstLine)
        try file.write(StatusMetrics.firstLine + "old\n")
        let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: metrics))
        _ = try directory.write([1], to: "rekey.prom.new-0123456789abcdef")
        try file.write(StatusMetrics.firstLine + "new\n")
        #expect(try reader.readToEnd() == Data((StatusMetrics.firstLine + "old\n").utf8))
        #expect(try content() == StatusMetrics.firstLine + "new\n")
        #expect(
            directory.names.filter { $0.hasPrefix("rekey.prom") } == ["rekey.prom"],
            "a killed run's file is removed"
        )
    }

    @Test func everybodyMayReadMetrics() throws {
        #expect(try status("good.db --prometheus rekey.prom").status == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: metrics)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
    }

    @Test(arguments: [FaultInjection.Call.open, .lock, .write, .adopt, .sync, .rename])
    func failedWriteKeepsOldMetrics(_ call: FaultInjection.Call) throws {
        let old = StatusMetrics.ofRunningCheck
        try MetricsFile(path: metrics, firstLine: StatusMetrics.firstLine).write(old)
        let order = FaultInjection.Order(prefix: metrics, call: call, after: 0, code: ENOSPC)
        let (outcome, met) = FaultInjection.with(order) {
            try MetricsFile(path: metrics, firstLine: StatusMetrics.firstLine).write(old + "# new\n")
        }
        #expect(met)
        #expect(throws: UnwritableMetrics.self) { try outcome.get() }
        #expect(try content() == old)
        #expect(directory.names.filter { $0.hasPrefix("rekey.prom") } == ["rekey.prom"])
    }

    @Test func killedRunLeavesNoOldResult() throws {
        #expect(try status("good.db --key-file k --prometheus rekey.prom").status == 0)
        #expect(try MetricsText(content()).value("rekey_database_verified", "good.db") == 1)
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        // It waits for its key.
        let outcome = try Program.run(
            Program.built("rekey"),
            ["status", directory.file("good.db"), "--key-file", directory.file("pipe"), "--prometheus", metrics],
            killedAfter: 1
        )
        #expect(outcome.status == -SIGKILL)
        let found = try MetricsText(content())
        #expect(found.samples.count == 1 && found.value("rekey_check_complete") == 0)
    }

    @Test func interruptedCheckIsNotVerified() throws {
        let options = try Status.parse(["good.db", "--key-file", directory.file("k")]).key
        let check = DatabaseCheck(
            directory.file("good.db"),
            DatabaseFile(path: directory.file("good.db")),
            keys: FileKeys(options),
            checksStructure: true,
            keyring: nil,
            progress: { _ in throw Interrupted() }
        )
        #expect(check.isInterrupted && !check.isVerified && check.state == .notVerified)
        #expect(check.status == .interrupted)
    }

    /// A file that gets the name when it was seen that nothing has it, also without hard links, or that metrics have it.
    @Test(arguments: [(FaultInjection.Call.link, nil), (.link, EPERM), (.rename, nil)])
    func otherFileThatAppearsIsNotReplaced(_ call: FaultInjection.Call, _ code: Int32?) throws {
        let file = MetricsFile(path: metrics, firstLine: StatusMetrics.firstLine)
        if call == .rename { try file.write(StatusMetrics.ofRunningCheck) }
        let order = FaultInjection.Order(prefix: metrics, call: call, after: 0, code: code) {
            [metrics] in
            try? Data("another's".utf8).write(to: URL(fileURLWithPath: metrics))
        }
        let (outcome, met) = FaultInjection.with(order) { try file.write(StatusMetrics.ofRunningCheck) }
        #expect(met)
        #expect(throws: UnwritableMetrics.self) { try outcome.get() }
        #expect(try content() == "another's")
        #expect(directory.names.filter { $0.hasPrefix("rekey.prom") } == ["rekey.prom"])
    }

    /// Where the system cannot exchange two names.
    @Test func metricsAreReplacedWithoutExchange() throws {
        let file = MetricsFile(path: metrics, firstLine: StatusMetrics.firstLine)
        try file.write(StatusMetrics.firstLine)
        let order = FaultInjection.Order(prefix: metrics, call: .rename, after: 0, code: EINVAL)
        let (outcome, met) = FaultInjection.with(order) { try file.write(StatusMetrics.ofRunningCheck) }
        #expect(met)
        try outcome.get()
        #expect(try content() == StatusMetrics.ofRunningCheck)
        #expect(directory.names.filter { $0.hasPrefix("rekey.prom") } == ["rekey.prom"])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
    func fullDiskLeavesNoOldResult() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let path = disk.file("m.prom")
        let arguments = ["status", directory.file("good.db"), "--key-file", directory.file("k"), "--prometheus", path]
        #expect(try Program.run(Program.built("rekey"), arguments).status == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("rekey_check_complete 1"))
        let full = FileManager.default.createFile(atPath: disk.file("full"), contents: nil)
        let filler = try FileHandle(forWritingTo: URL(fileURLWithPath: disk.file("full")))
        while full, (try? filler.write(contentsOf: Data(count: 4096))) != nil {}
        try filler.close()
        let outcome = try Program.run(Program.built("rekey"), arguments)
        #expect(
            outcome.status == 73 && outcome.errors.contains("m.prom: the metrics were not written"),
            "\(outcome.errors)"
        )
        #expect(outcome.output.contains("good.db"), "the check is made and printed")
        #expect(try String(contentsOfFile: path, encoding: .utf8).isEmpty)
    }

    @Test func otherFileIsNotReplaced() throws {
        let before = try FileState(directory.file("good.db"))
        let outcome = try status("good.db --key-file k --prometheus good.db")
        #expect(outcome.status == 73 && outcome.output.contains("encrypted, verified"), "the check is made and printed")
        #expect(outcome.errors.contains("good.db: the metrics were not written"), "\(outcome.errors)")
        #expect(try FileState(directory.file("good.db")) == before)
        // A file of such a name would count as damage of the database.
        for name in ["none.db-wal", "none.db-journal", "none.db-shm", "none.db.keyring"] {
            let belonging = try status("good.db --prometheus \(name)")
            #expect(belonging.status == 73 && belonging.errors.contains("side file of a database"), "\(name)")
            #expect(!directory.names.contains(name))
        }
        try FileManager.default.createSymbolicLink(atPath: metrics, withDestinationPath: directory.file("k"))
        #expect(try status("good.db --prometheus rekey.prom").status == 73)
        // What is found in a database is graver.
        let plain = try status("plain.db --prometheus rekey.prom")
        #expect(plain.status == 65 && plain.output.contains("plaintext") && plain.errors.contains("not written"))
        let nowhere = try status("good.db --prometheus nowhere/rekey.prom")
        #expect(nowhere.status == 73 && nowhere.output.contains("good.db"), "\(nowhere.errors)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: metrics) == directory.file("k"))
    }
}
