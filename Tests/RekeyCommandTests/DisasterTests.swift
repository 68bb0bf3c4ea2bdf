import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// `Documentation/HowTo/Disaster.md`: each section's commands, run as they stand after the disaster that it is for.
@Suite(.once)
struct DisasterTests {
    let directory: TemporaryDirectory

    /// `vault.db` with 300 rows that the repository has, and one that it lacks.
    init() throws {
        directory = try TemporaryDirectory()
        try make("vault")
        _ = try directory.write(DatabaseKey.sampleBytes("new"), to: "new.key")
        _ = try directory.write("another passphrase\n".utf8, to: "new.txt")
        try succeed(Self.backup)
        try insert(1)
    }

    private static let verify = "rekey verify vault.db --keyring vault.db.keyring --passphrase-file ada.txt"
    private static let backup =
        "rekey backup vault.db vault.backups --keyring vault.db.keyring --passphrase-file ada.txt"

    private static var keyFile: KeyringSecret {
        get throws { try .keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("machine"))) }
    }

    /// A database under a keyring with a passphrase, a recovery code and a key file.
    private func make(_ name: String) throws {
        let keyring = Keyring(besideDatabase: directory.file("\(name).db"))
        let unlocked = try keyring.create(with: .passphrase("Ada's passphrase"), label: "Ada")
        let code = try RecoveryCode.random()
        try unlocked.add(code, typedBack: RecoveryCode(typed: code.text()), label: "paper")
        try unlocked.add(Self.keyFile, label: "service")
        let queue = try DatabaseQueue(
            path: directory.file("\(name).db"),
            key: unlocked,
            configuration: Configuration { $0.journalMode = .wal }
        )
        try queue.inDatabase {
            try $0.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")
            try $0.executeStatements("CREATE INDEX notes_text ON notes (text)")
        }
        try queue.close()
        guard name == "vault" else { return }
        _ = try directory.write("Ada's passphrase\n".utf8, to: "ada.txt")
        _ = try directory.write(code.text().withUnsafeBytes { Array($0) }, to: "code.txt")
        _ = try directory.write(DatabaseKey.sampleBytes("machine"), to: "machine.key")
        try insert(300)
    }

    private func open(_ name: String = "vault.db") throws -> DatabaseQueue {
        try DatabaseQueue(
            path: directory.file(name),
            // It needs no KDF.
            key: .keyring(Keyring(besideDatabase: directory.file(name)), unlockedBy: Self.keyFile)
        )
    }

    /// Spreads the rows evenly over the index, so that which pages a count of rows changes is the same in each run.
    private static let newNote: SQL = """
        INSERT INTO notes (text)
        SELECT printf('%08x%0192d', (coalesce(max(id), 0) + 1) * 2654435769 & 4294967295, 0) FROM notes
        """

    private func insert(_ count: Int) throws {
        let queue = try open()
        defer { try? queue.close() }
        try queue.inTransaction { database in
            for _ in 0..<count { try database.executeUpdate(Self.newNote) }
        }
    }

    private func copy(_ name: String, to copy: String) throws {
        try? FileManager.default.removeItem(atPath: directory.file(copy))
        try FileManager.default.copyItem(atPath: directory.file(name), toPath: directory.file(copy))
    }

    /// Commits rows to a WAL, which `body` finds before a checkpoint.
    private func commit(_ count: Int, _ body: () throws -> Void) throws {
        let queue = try open()
        defer { try? queue.close() }
        try queue.inTransaction { database in
            for _ in 0..<count { try database.executeUpdate(Self.newNote) }
        }
        try body()
    }

    /// The WAL is deleted when half of its pages are in the file.
    private func cutOffCheckpoint() throws {
        try commit(300) { for name in ["vault.db", "vault.db-wal"] { try copy(name, to: "half" + name.dropFirst(5)) } }
        let log = try Data(contentsOf: URL(fileURLWithPath: directory.file("half.db-wal")))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.file("half.db")))
        var pages: [Int: Data] = [:]
        for frame in stride(from: 32, to: log.count, by: 24 + 4096) {
            let number = log[frame..<frame + 4].reduce(0) { $0 << 8 | Int($1) }
            pages[number] = log[frame + 24..<frame + 24 + 4096]
        }
        for (number, page) in pages.sorted(by: { $0.key < $1.key }).prefix(pages.count / 2) {
            try file.seek(toOffset: UInt64(number - 1) * 4096)
            try file.write(contentsOf: page)
        }
        try file.close()
        try copy("half.db", to: "vault.db")
    }

    /// A WAL from before the last checkpoint is put back.
    private func putBackOldLog(of count: Int) throws {
        try commit(count) { try copy("vault.db-wal", to: "old-wal") }
        try insert(700)
        try copy("old-wal", to: "vault.db-wal")
    }

    /// A WAL from before a VACUUM is put back.
    private func putBackLogFromBeforeVacuum() throws {
        try insert(700)
        let queue = try open()
        defer { try? queue.close() }
        try queue.inDatabase { try $0.executeUpdate("UPDATE notes SET text = text || 'y' WHERE id > 900") }
        try copy("vault.db-wal", to: "old-wal")
        try queue.inDatabase {
            try $0.executeUpdate("DELETE FROM notes WHERE id % 2 = 0")
            try $0.vacuum()
            _ = try $0.checkpoint(.truncate)
        }
        try queue.close()
        try copy("old-wal", to: "vault.db-wal")
    }

    /// A program was killed in a transaction, some pages of which are in the file.
    private func leaveHotJournal() throws {
        let queue = try open()
        defer { try? queue.close() }
        try queue.inDatabase { database in
            try database.executeStatements("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5; BEGIN")
            // No page more, so that the journal has no page 1.
            try database.executeUpdate("UPDATE notes SET text = substr(text, 1, 199) || 'x'")
            for name in ["vault.db", "vault.db-journal"] { try copy(name, to: "hot" + name.dropFirst(5)) }
            try database.executeStatements("ROLLBACK")
        }
        for name in ["vault.db", "vault.db-journal"] { try copy("hot" + name.dropFirst(5), to: name) }
    }

    private func rows(_ name: String) throws -> Int? {
        let queue = try open(name)
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM notes WHERE text NOT LIKE '%x'") }
    }

    private func run(_ script: String) throws -> Program.Outcome { try Program.commands(script, in: directory) }

    private func succeed(_ script: String) throws {
        let outcome = try run(script)
        #expect(outcome.status == 0, "\(script)\n\(outcome.output)\(outcome.errors)")
    }

    private static let page: [(title: String, commands: String, signs: [String])] = {
        let place = "\(Program.packageDirectory)/Documentation/HowTo/Disaster.md"
        let text = (try? String(contentsOfFile: place, encoding: .utf8)) ?? ""
        return text.components(separatedBy: "\n## ").dropFirst().map { section in
            let text = section.replacingOccurrences(of: "\n", with: " ")
            let signs = text.firstMatch(of: /\*\*Seen as\*\*.*?\*\*Lost/)?.output ?? ""
            return (
                String(section.prefix { $0 != "\n" }), Program.script(ofGuide: section),
                signs.matches(of: /"([^"]+)"/).map { String($0.output.1) }
            )
        }
    }()

    /// A disaster, by the title of its section.
    struct Disaster: Sendable, CustomStringConvertible {
        let description: String
        /// What happens before the script.
        var happens: @Sendable (DisasterTests) throws -> Void = { _ in }
        /// What happens.
        var script = "true"
        /// The command that fails then, and says one of the page's words; nil where the file is sound.
        var seenBy: String? = DisasterTests.verify
        /// Whether that command only warns.
        var isWarning = false
        /// What the page's words say to do first.
        var byHand = "true"
        /// What is put into the commands in place of `n=16`.
        var size = 16
        /// The section to which the page sends on, after commands that fail.
        var next: String?
        /// With which they fail.
        var status: Int32 = 65
        /// The file that is sound afterwards, and its rows.
        var file = "vault.db"
        let rows: ClosedRange<Int>
    }

    static let disasters = [
        Disaster(
            description: "A passphrase is lost",
            script: "rekey keyring change vault.db --passphrase-file ada.txt --new-key-file new.key",
            rows: 301...301
        ),
        Disaster(description: "The keyring is gone or wrong", script: "rm vault.db.keyring", rows: 301...301),
        Disaster(
            description: "The keyring is gone or wrong",
            script: "rm vault.db.keyring; rekey keyring init other.db --new-passphrase-file ada.txt; "
                + "mv other.db.keyring vault.db.keyring",
            rows: 301...301
        ),
        Disaster(
            description: "The keyring is gone or wrong",
            script: "printf '\\0\\2' | dd of=vault.db.keyring bs=1 seek=8 conv=notrunc 2> /dev/null",
            byHand: "mv vault.db.keyring away",
            rows: 301...301
        ),
        Disaster(
            description: "The keyring is gone or wrong",
            script: "cp vault.db.keyring old; "
                + "rekey keyring add vault.db --passphrase-file ada.txt --new-key-file new.key; "
                + "\(backup); mv old vault.db.keyring; \(verify); rekey backups check vault.backups",
            seenBy: backup,
            isWarning: true,
            rows: 301...301
        ),
        Disaster(
            description: "The WAL or journal is an old one, or another database's",
            script: "cp other.db-wal vault.db-wal",
            rows: 301...301
        ),
        Disaster(
            description: "The WAL or journal is an old one, or another database's",
            happens: {
                try $0.insert(3000)
                try $0.putBackOldLog(of: 20)
            },
            rows: 4021...4021
        ),
        // It has all pages that were changed since.
        Disaster(
            description: "The WAL or journal is an old one, or another database's",
            happens: { try $0.putBackOldLog(of: 100) },
            seenBy: nil,
            rows: 1101...1101
        ),
        Disaster(
            description: "The WAL or journal is an old one, or another database's",
            happens: { try $0.putBackLogFromBeforeVacuum() },
            rows: 501...501
        ),
        Disaster(description: "The file is cut off", script: "truncate -s 8192 vault.db", rows: 300...300),
        Disaster(
            description: "The file is cut off",
            script: "rekey keyring rotate vault.db --passphrase-file ada.txt; truncate -s 8192 vault.db",
            rows: 300...300
        ),
        Disaster(
            description: "A page is bad",
            script: "printf x | dd of=vault.db bs=1 seek=20000 conv=notrunc 2> /dev/null",
            rows: 200...301
        ),
        Disaster(
            description: "Page 1 or the salt is bad",
            script: "dd if=/dev/urandom of=vault.db bs=16 count=1 conv=notrunc 2> /dev/null",
            rows: 301...301
        ),
        // The keyring has the salt that the rotation gave it.
        Disaster(
            description: "Page 1 or the salt is bad",
            script: "rekey keyring rotate vault.db --passphrase-file ada.txt; "
                + "dd if=/dev/urandom of=vault.db bs=16 count=1 conv=notrunc 2> /dev/null",
            rows: 301...301
        ),
        Disaster(
            description: "Page 1 or the salt is bad",
            script: "dd if=/dev/urandom of=vault.db bs=16 count=255 seek=1 conv=notrunc 2> /dev/null",
            seenBy: "rekey recover vault.db x.db --keyring vault.db.keyring --passphrase-file ada.txt",
            size: 4096,
            rows: 301...301
        ),
        Disaster(
            description: "Page 1 or the salt is bad",
            happens: { try $0.insert(300) },
            script: "dd if=/dev/urandom of=vault.db bs=4096 count=1 conv=notrunc 2> /dev/null",
            size: 4096,
            rows: 601...601
        ),
        Disaster(
            description: "Page 1 or the salt is bad",
            happens: { try $0.leaveHotJournal() },
            script: "dd if=/dev/urandom of=vault.db bs=16 count=1 conv=notrunc 2> /dev/null",
            rows: 301...301
        ),
        // The schema of the backup lacks the column.
        Disaster(
            description: "Page 1 or the salt is bad",
            happens: {
                let queue = try $0.open()
                defer { try? queue.close() }
                try queue.inDatabase {
                    try $0.executeStatements("ALTER TABLE notes ADD COLUMN new; UPDATE notes SET new = id")
                }
            },
            script: "dd if=/dev/urandom of=vault.db bs=4096 count=1 conv=notrunc 2> /dev/null",
            size: 4096,
            next: "The file is cut off",
            status: 1,
            rows: 300...300
        ),
        // The page of the backup is under the key before: it opens the file by a retired key, and proves no other page.
        Disaster(
            description: "Page 1 or the salt is bad",
            script: "rekey keyring rotate vault.db --passphrase-file ada.txt; "
                + "dd if=/dev/urandom of=vault.db bs=4096 count=1 conv=notrunc 2> /dev/null",
            size: 4096,
            next: "The file is cut off",
            status: 1,
            rows: 300...300
        ),
        Disaster(
            description: "Page 1 or the salt is bad",
            script: "dd if=/dev/zero of=vault.db bs=4096 count=1 conv=notrunc 2> /dev/null",
            size: 4096,
            rows: 301...301
        ),
        // The file is cut off, too: what is missing must not be put in place.
        Disaster(
            description: "Page 1 or the salt is bad",
            script:
                "truncate -s 12288 vault.db; dd if=/dev/urandom of=vault.db bs=16 count=1 conv=notrunc 2> /dev/null",
            next: "The file is cut off",
            status: 1,
            rows: 300...300
        ),
        Disaster(
            description: "Page 1 or the salt is bad",
            script: "truncate -s 4095 vault.db",
            size: 4096,
            next: "The file is cut off",
            status: 1,
            rows: 300...300
        ),
        Disaster(
            description: "The WAL is deleted",
            happens: { try $0.insert(100) },
            script: "rm -f vault.db-wal",
            seenBy: nil,
            rows: 401...401
        ),
        Disaster(
            description: "The WAL is deleted",
            happens: { try $0.cutOffCheckpoint() },
            next: "The file is cut off",
            rows: 300...300
        ),
        Disaster(description: "The machine is lost", script: "rm vault.db*", rows: 300...300),
        Disaster(description: "Somebody deleted rows", seenBy: nil, file: "then.db", rows: 300...300),
        Disaster(
            description: "The repository is lost, an old copy, or damaged",
            script: "rm -r vault.backups",
            seenBy: backup,
            rows: 301...301
        ),
        Disaster(
            description: "The repository is lost, an old copy, or damaged",
            script:
                "cp -r vault.backups old; \(backup); rekey keyring rotate vault.db --passphrase-file ada.txt; \(backup); "
                + "rm -r vault.backups; mv old vault.backups",
            seenBy: backup,
            rows: 301...301
        ),
        Disaster(
            description: "The repository is lost, an old copy, or damaged",
            script: "\(backup); "
                + "printf xyz | dd of=$(ls -d vault.backups/generations/* | tail -1) bs=1 seek=44 conv=notrunc 2> /dev/null; rekey backups list vault.backups || test $? = 65",
            seenBy: backup,
            byHand: "mv $(ls -d vault.backups/generations/* | tail -1) .",
            rows: 301...301
        ),
        Disaster(
            description: "The key service or the token is gone",
            script: "rm machine.key",
            seenBy: "rekey verify vault.db --keyring vault.db.keyring --key-file machine.key",
            rows: 301...301
        ),
    ]

    @Test func everySectionIsPlayed() {
        var titles: [String] = []
        for disaster in Self.disasters where titles.last != disaster.description { titles.append(disaster.description) }
        #expect(Self.page.map(\.title) == titles + ["The disk is full"])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk")) func fullDiskIsFreed() throws {
        let disk = try SmallDisk(bytes: 8 << 20)
        try succeed("cp -r vault.db* vault.backups ada.txt \(disk.path)")
        let section = try #require(Self.page.last)
        func expectSign(_ command: String, _ sign: String) throws {
            let refused = try run("cd \(disk.path); \(command)")
            #expect(refused.status == 74 && refused.errors.contains(sign), "\(refused.errors)")
            #expect(section.signs.contains(sign))
        }
        try succeed("! dd if=/dev/zero of=\(disk.path)/fill 2> /dev/null")
        try expectSign(Self.verify, "disk I/O error: the disk is full")
        try succeed("rm \(disk.path)/fill")
        let queue = try DatabaseQueue(
            path: disk.file("vault.db"),
            key: .keyring(Keyring(besideDatabase: disk.file("vault.db")), unlockedBy: .passphrase("Ada's passphrase"))
        )
        _ = try queue.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
        try succeed("! dd if=/dev/zero of=\(disk.path)/fill 2> /dev/null")
        let insert = { try queue.write { try $0.executeUpdate("INSERT INTO notes (text) VALUES (zeroblob(1000000))") } }
        let error = #expect(throws: DatabaseError.self) { try insert() }
        #expect(error.map { error in section.signs.contains { error.message.contains($0) } } == true, "\(error as Any)")
        try expectSign(Self.backup, "No space left on device")
        // By hand, as the page says.
        try succeed("rm \(disk.path)/fill; cd \(disk.path); \(section.commands)")
        try insert()
        #expect(try queue.read { try $0.int(forQuery: "SELECT count(*) FROM notes") } == 302)
        try queue.close()
    }

    @Test(arguments: disasters)
    func sectionEndsItsDisaster(_ disaster: Disaster) throws {
        try disaster.happens(self)
        let script = disaster.script
        var other: DatabaseQueue?
        if script.contains("other.db-wal") {
            try make("other")
            other = try open("other.db")
            try other?.inDatabase { try $0.executeUpdate("INSERT INTO notes (text) VALUES ('of another database')") }
        }
        try succeed(script)
        try other?.close()
        let section = try #require(Self.page.first { $0.title == disaster.description })
        if let command = disaster.seenBy {
            let seen = try run(command)
            let said = seen.output + seen.errors
            #expect((seen.status == 0) == disaster.isWarning, "\(said)")
            #expect(section.signs.contains(where: said.contains), "\(said)")
        } else {
            try succeed(Self.verify)
        }
        let commands = section.commands.replacing("n=16 ", with: "n=\(disaster.size) ")
        if let next = disaster.next {
            #expect(try run(commands).status == disaster.status)
            try succeed(#require(Self.page.first { $0.title == next }).commands)
        } else {
            try succeed(disaster.byHand + "; " + commands)
        }
        if !disaster.description.hasPrefix("A passphrase") {
            #expect(try disaster.rows.contains(rows(disaster.file) ?? 0))
        }
        // The timer goes on, which knows of nothing.
        if !disaster.description.hasPrefix("A passphrase") { try succeed(Self.backup) }
    }

    /// Pasted into a shell that goes on after failures.
    @Test(arguments: page.map(\.title)) func failureEndsTheBlock(_ title: String) throws {
        let section = try #require(Self.page.first { $0.title == title })
        try section.commands.write(toFile: directory.file("block"), atomically: true, encoding: .utf8)
        let calls = directory.file("calls")
        for failing in 1...9 {
            try Data().write(to: URL(fileURLWithPath: calls))
            let outcome = try run(
                """
                set +e +u +o pipefail
                rekey() { echo >> calls; test $(wc -l < calls) != \(failing) || return 74; command rekey "$@"; }
                . ./block
                """
            )
            let count = try Data(contentsOf: URL(fileURLWithPath: calls)).count
            #expect(count <= failing && (count < failing || outcome.status != 0), "\(failing): \(outcome.errors)")
            if !title.hasPrefix("A passphrase") {
                #expect(try (300...301).contains(rows("vault.db") ?? 0), "\(failing)")
            }
            guard count == failing else { break }
        }
    }

    /// The backup has an older key alone.
    @Test func runningProgramSavesItsRows() throws {
        try succeed("rekey keyring rotate vault.db --passphrase-file ada.txt")
        let queue = try open()
        try succeed("rm vault.db.keyring")
        #expect(try run("rekey keyring restore vault.db vault.backups --passphrase-file ada.txt").status == 77)
        try queue.backup(to: directory.file("saved.db"), key: .raw(hex: String(repeating: "4b", count: 32)))
        try queue.close()
        _ = try directory.write(String(repeating: "4b", count: 32).utf8, to: "saved.key")
        try succeed("rekey verify saved.db --key-file saved.key")
    }

    /// As `/proc/PID/fd` has it.
    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "this system has no /proc"),
        arguments: ["vault.db", "vault.db-wal"]
    )
    func runningProgramHasDeletedFile(name: String) throws {
        let queue = try open()
        try queue.write { try $0.executeUpdate(Self.newNote) }
        let other = name == "vault.db" ? "vault.db-wal" : "vault.db"
        let program = "/proc/\(ProcessInfo.processInfo.processIdentifier)/fd"
        try succeed(
            "rm \(name); mkdir kept; cp \(other) vault.db.keyring kept; "
                + "cp \(program)/$(ls -l \(program) | grep '/\(name) (deleted)' | sed 's/.* \\([0-9]*\\) ->.*/\\1/' | head -1) kept/\(name); "
                + "cd kept; \(Self.verify.replacing("ada.txt", with: "../ada.txt"))"
        )
        try queue.close()
        #expect(try rows("kept/vault.db") == 302)
    }

    /// Rows of the transaction that was cut off are no rows to save.
    @Test func deletedJournalIsNoBadPage() throws {
        try insert(300)
        try succeed(Self.backup)
        let queue = try open()
        try queue.inDatabase { database in
            try database.executeStatements("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5; BEGIN")
            try database.executeUpdate("INSERT INTO notes (text) SELECT text FROM notes")
            try copy("vault.db", to: "cut.db")
            try database.executeStatements("ROLLBACK")
        }
        try queue.close()
        try succeed("mv cut.db vault.db; printf x | dd of=vault.db bs=1 seek=20000 conv=notrunc 2> /dev/null")
        let before = try FileState(directory.file("vault.db"))
        let section = try #require(Self.page.first { $0.title == "A page is bad" })
        let outcome = try run("set +e +u +o pipefail\n" + section.commands)
        #expect(outcome.status != 0 && outcome.output.contains("pages stand behind"), "\(outcome)")
        #expect(try FileState(directory.file("vault.db")) == before)
        try succeed(#require(Self.page.first { $0.title == "The file is cut off" }).commands)
        #expect(try rows("vault.db") == 601)
    }

    @Test func badPageBesidePageOneIsRecovered() throws {
        try succeed(
            "for n in 0 20000; do printf xxxxxxxx | dd of=vault.db bs=1 seek=$((n + 200)) conv=notrunc 2> /dev/null; done"
        )
        let section = try #require(Self.page.first { $0.title == "Page 1 or the salt is bad" })
        let lines = section.commands.replacing("n=16 ", with: "n=4096 ").split(separator: "\n")
        let second = try #require(lines.lastIndex { $0.hasPrefix("find") })
        let rest = lines[second...].joined(separator: "\n")
        let outcome = try run(
            "set +e +u +o pipefail\n\(lines.joined(separator: "\n")) && exit 9\n"
                + "grep -q '^schema: *whole' $d/report || exit 8\n\(rest)"
        )
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try (200...301).contains(rows("vault.db") ?? 0))
    }

    @Test func lostSchemaTakesNoPlace() throws {
        try succeed("dd if=/dev/urandom of=vault.db bs=16 count=255 seek=1 conv=notrunc 2> /dev/null")
        let before = try FileState(directory.file("vault.db"))
        let section = try #require(Self.page.first { $0.title == "A page is bad" })
        let outcome = try run("set +e +u +o pipefail\n" + section.commands)
        #expect(
            outcome.status != 0 && outcome.output.contains("incomplete: tables, columns or indexes may be missing"),
            "\(outcome)"
        )
        #expect(try FileState(directory.file("vault.db")) == before)
    }
}
