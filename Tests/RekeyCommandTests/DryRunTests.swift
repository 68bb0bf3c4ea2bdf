import CipherDB
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import rekey

/// A dry run against the run itself.
@Suite(.atTheEnds) struct DryRunTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        try SampleFile.make(at: path, under: .sample("old"))
        for name in ["old", "new"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
    }

    /// Runs a line of the shell in the directory, as another user than root, whom permissions do not stop.
    private func shell(_ line: String) throws -> Program.Outcome {
        let user = getuid() == 0 ? ["setpriv", "--reuid", "65534", "--clear-groups"] : []
        return try Program.run("/usr/bin/env", user + ["sh", "-c", "cd '\(directory.path)' && \(line)"])
    }

    private static let change = "change test.db --key-file old --new-key-file new"

    /// What is done to the files, the command, and the exit status of both runs.
    static let cases: [(String, String, Int32)] = [
        ("ln test.db second.db", change, 64), ("chmod 500 .", change, 77),
        ("mkdir kept && chmod 500 kept", change + " --keep-old kept/old.db", 77),
        ("true", change + " --keep-old no/old.db", 74),
        ("touch kept.db", change + " --keep-old kept.db", 73), ("ln -s elsewhere test.db-journal", change, 65),
        ("echo no journal > test.db-journal", change, 65), ("mkdir test.db-shm", change, 65),
        ("touch test.db-wal && ln test.db-wal second", change, 64), ("chmod 400 test.db", change, 77),
        ("cp old new", change, 64), ("cp new old", change, 77),
        ("ln test.db second.db", "decrypt test.db --key-file old --yes-write-plaintext", 64),
        ("chmod 500 .", "decrypt test.db --key-file old --yes-write-plaintext", 77),
        ("chmod 500 .", "migrate test.db --key-file old --page-size 8192", 77),
        ("ln -s elsewhere test.db-journal", "migrate test.db --key-file old --page-size 8192", 65),
    ]

    /// Whether another user than root can run the command and get at the directories of the tests.
    static let isReachable: Bool = {
        guard getuid() == 0 else { return true }
        let paths = [Program.built("rekey"), (try? TemporaryDirectory())?.path ?? "/"]
        let script = "test -x '\(paths[0])' && ls '\((paths[1] as NSString).deletingLastPathComponent)'"
        let user = ["setpriv", "--reuid", "65534", "--clear-groups", "sh", "-c", script]
        return (try? Program.run("/usr/bin/env", user).status) == 0
    }()

    @Test(.enabled(if: isReachable, "another user than root cannot reach the build"), arguments: cases)
    func dryRunRefusesWhatRunRefuses(_ before: String, _ command: String, _ status: Int32)
        throws
    {
        if getuid() == 0 { _ = try Program.run("/bin/sh", ["-c", "chown -R 65534 '\(directory.path)'"]) }
        defer { _ = try? Program.run("/bin/chmod", ["-R", "u+rwX", directory.path]) }
        #expect(try shell(before).status == 0)
        let state = try FileState(path)
        let dry = try shell("\(Program.built("rekey")) \(command) --dry-run")
        let run = try shell("\(Program.built("rekey")) \(command)")
        #expect(run.status == status, "\(run.errors)")
        #expect(dry.status == run.status && dry.errors == run.errors, "\(dry.errors) \(run.errors)")
        #expect(try FileState(path) == state)
    }

    /// The keyring is in the way, too, and what it would write.
    @Test(
        .enabled(if: isReachable, "another user than root cannot reach the build"),
        arguments: [
            ("true", 0), ("ln test.db second.db", 64), ("ln test.db.keyring second", 64), ("chmod 500 .", 77),
            ("chmod 400 test.db", 77), ("chmod 400 test.db.keyring", 77), ("cp new p", 77), ("rm test.db", 66),
            ("cp other.db test.db", 77),
        ] as [(String, Int32)]
    )
    func dryRunOfRotationRefusesWhatRunRefuses(_ before: String, _ status: Int32) throws {
        _ = try directory.write("the passphrase\n".utf8, to: "p")
        try SampleFile.make(at: directory.file("other.db"), under: .sample("new"))
        let initial = try Program.rekey("keyring init test.db --key-file old --new-passphrase-file p", in: directory)
        #expect(initial.status == 0, "\(initial.errors)")
        if getuid() == 0 { _ = try Program.run("/bin/sh", ["-c", "chown -R 65534 '\(directory.path)'"]) }
        defer { _ = try? Program.run("/bin/chmod", ["-R", "u+rwX", directory.path]) }
        #expect(try shell(before).status == 0)
        let (keyring, names) = (try FileState(path + ".keyring"), directory.names)
        let state = try? FileState(path)
        let command = "\(Program.built("rekey")) keyring rotate test.db --passphrase-file p"
        let dry = try shell("\(command) --dry-run")
        #expect(try FileState(path + ".keyring") == keyring && directory.names == names)
        #expect(try state == nil || FileState(path) == state)
        let run = try shell(command)
        #expect(run.status == status, "\(before): \(run.errors)")
        #expect(dry.status == run.status && dry.errors == run.errors, "\(before): \(dry.errors) \(run.errors)")
        #expect(dry.output.contains("would write") == (status == 0), "\(dry.output)")
    }

    /// Of a keyring that does not exist, of one that a killed run left, and of a database in plaintext or that does not exist.
    @Test(
        .enabled(if: isReachable, "another user than root cannot reach the build"),
        arguments: [
            ("true", "--key-file old", 0), ("true", "--key-file new", 77),
            ("ln test.db second.db", "--key-file old", 64), ("chmod 500 .", "--key-file old", 77),
            ("chmod 400 test.db", "--key-file old", 77), ("touch test.db.keyring", "--key-file old", 65),
            ("mkdir test.db.keyring", "--key-file old", 65), ("ln -s no test.db.keyring", "--key-file old", 66),
            ("true", "--key-file old --keep-old no/old.db", 74), ("true", "--key-file old --keep-old p", 73),
            ("true", "--key-file old --label \"$(printf '\\a')\"", 64),
            ("echo no journal > test.db-journal", "--key-file old", 65),
            ("true", "--key-file old --keyring no/keyring", 74),
            ("mv other.keyring test.db.keyring", "--key-file old", 0),
            ("mv used.db.keyring test.db.keyring", "--key-file old", 73), ("mv plain.db test.db", "", 0),
            ("mv plain.db test.db", "--key-file old", 64), ("rm test.db", "", 0), ("rm test.db && chmod 500 .", "", 77),
            ("rm test.db && touch test.db.keyring", "", 73),
            ("mv used.db test.db && mv used.db.keyring test.db.keyring", "", 73),
        ] as [(String, String, Int32)]
    )
    func dryRunOfNewKeyringRefusesWhatRunRefuses(_ before: String, _ options: String, _ status: Int32) throws {
        _ = try directory.write("the passphrase\n".utf8, to: "p")
        try SampleFile.make(at: directory.file("used.db"), under: .sample("new"))
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements("CREATE TABLE t (a)")
        plain.close()
        for line in [
            "used.db --key-file new --new-key-file new", "none.db --keyring other.keyring --new-passphrase-file p",
        ] {
            let made = try Program.rekey("keyring init \(line)", in: directory)
            #expect(made.status == 0, "\(made.errors)")
        }
        if getuid() == 0 { _ = try Program.run("/bin/sh", ["-c", "chown -R 65534 '\(directory.path)'"]) }
        defer { _ = try? Program.run("/bin/chmod", ["-R", "u+rwX", directory.path]) }
        #expect(try shell(before).status == 0)
        let names = directory.names
        let (state, keyring) = (try? FileState(path), try? FileState(path + ".keyring"))
        let command = "\(Program.built("rekey")) keyring init test.db --new-passphrase-file p \(options)"
        let dry = try shell("\(command) --dry-run < /dev/null")
        #expect(directory.names == names)
        #expect((try? FileState(path)) == state && (try? FileState(path + ".keyring")) == keyring)
        let run = try shell("\(command) < /dev/null")
        #expect(run.status == status, "\(before), \(options): \(run.errors)")
        #expect(
            dry.status == run.status && (status == 0 || dry.errors == run.errors),
            "\(before), \(options): \(dry.errors) \(run.errors)"
        )
        #expect(status == 0 || directory.names == names, "\(before), \(options): \(directory.names)")
        let says = dry.output.contains("would write") || dry.output.contains("the keyring was not created")
        #expect(says == (status == 0), "\(dry.output)")
    }

    /// Not even for a moment, after which a kill would leave it.
    @Test func dryRunGivesKeyringNoName() throws {
        struct Asked: Error {}
        let keyring = Keyring(path: directory.file("new.keyring"))
        var database = DatabaseFile(path: path)
        database.willRewrite = { _ in throw Asked() }
        let order = FaultInjection.Order(prefix: keyring.path, call: .link, after: 0, code: ENOSPC)
        let (outcome, met) = FaultInjection.with(order) { [database] in
            try NewKeyring(keyring: keyring, label: "", derivation: .standard)
                .plan(database, from: .sample("old"), .passphrase("p"), keepingOldAs: nil)
        }
        #expect(throws: Asked.self) { try outcome.get() }
        #expect(!met && !directory.names.contains("new.keyring"))
    }

    @Test func dryRunOfRotationInPlaceIsRefused() throws {
        #expect(try Program.rekey("keyring rotate test.db --in-place --dry-run", in: directory).status == 64)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
    func dryRunRefusesFullDisk() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        try FileManager.default.copyItem(atPath: path, toPath: disk.file("test.db"))
        let arguments = [
            "change", disk.file("test.db"), "--key-file", directory.file("old"), "--new-key-file",
            directory.file("new"),
        ]
        let dry = try Program.run(Program.built("rekey"), arguments + ["--dry-run"])
        let run = try Program.run(Program.built("rekey"), arguments)
        #expect(run.status == 74 && dry.status == 74 && dry.errors == run.errors, "\(dry.errors) \(run.errors)")
    }
}
