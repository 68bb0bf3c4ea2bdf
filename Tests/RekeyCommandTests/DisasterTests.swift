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
        for name in ["new", "service"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name + ".key") }
        _ = try directory.write("another passphrase\n".utf8, to: "new.txt")
        try succeed(Self.backup)
        try insert(1)
    }

    private static let verify = "rekey verify vault.db --keyring vault.db.keyring --passphrase-file ada.txt"
    private static let backup =
        "rekey backup vault.db vault.backups --keyring vault.db.keyring --passphrase-file ada.txt"

    /// A database under a keyring with a passphrase, a recovery code and a key file.
    private func make(_ name: String) throws {
        let keyring = Keyring(besideDatabase: directory.file("\(name).db"))
        let unlocked = try keyring.create(with: .passphrase("Ada's passphrase"), label: "Ada")
        let code = try RecoveryCode.random()
        try unlocked.add(code, typedBack: RecoveryCode(typed: code.text()), label: "paper")
        try unlocked.add(.keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("machine"))), label: "service")
        let queue = try DatabaseQueue(
            path: directory.file("\(name).db"),
            key: unlocked,
            configuration: Configuration { $0.journalMode = .wal }
        )
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)") }
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
            key: .keyring(Keyring(besideDatabase: directory.file(name)), unlockedBy: .passphrase("Ada's passphrase"))
        )
    }

    private func insert(_ count: Int) throws {
        let queue = try open()
        defer { try? queue.close() }
        try queue.inTransaction { database in
            for _ in 0..<count { try database.executeUpdate("INSERT INTO notes (text) VALUES (hex(randomblob(100)))") }
        }
    }

    private func rows(_ name: String) throws -> Int? {
        let queue = try open(name)
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM notes") }
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
        /// What happens.
        let script: String
        /// The command that fails then, and says one of the page's words; nil where the file is sound.
        var seenBy: String? = DisasterTests.verify
        /// What the page's words say to do first.
        var byHand = "true"
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
        Disaster(description: "The keyring is deleted", script: "rm vault.db.keyring", rows: 301...301),
        Disaster(
            description: "The keyring is an old one, or another database's",
            script: "rm vault.db.keyring; rekey keyring init other.db --new-passphrase-file ada.txt; "
                + "mv other.db.keyring vault.db.keyring",
            rows: 301...301
        ),
        Disaster(
            description: "The keyring is an old one, or another database's",
            script: "printf '\\0\\2' | dd of=vault.db.keyring bs=1 seek=8 conv=notrunc 2> /dev/null",
            byHand: "mv vault.db.keyring away",
            rows: 301...301
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
            rows: 200...300
        ),
        Disaster(description: "The WAL is deleted", script: "rm -f vault.db-wal", seenBy: nil, rows: 300...300),
        Disaster(
            description: "The WAL is deleted",
            script: "rekey keyring rotate vault.db --passphrase-file ada.txt; rm -f vault.db-wal",
            seenBy: nil,
            rows: 300...300
        ),
        Disaster(
            description: "The WAL or journal is another database's",
            script: "cp other.db-wal vault.db-wal",
            rows: 301...301
        ),
        Disaster(description: "The machine is lost", script: "rm vault.db*", rows: 300...300),
        Disaster(
            description: "Somebody deleted rows",
            script: "true",
            seenBy: nil,
            file: "then.db",
            rows: 300...300
        ),
        Disaster(description: "The repository is lost", script: "rm -r vault.backups", seenBy: backup, rows: 301...301),
        Disaster(
            description: "The repository is an old copy",
            script:
                "cp -r vault.backups old; \(backup); rekey keyring rotate vault.db --passphrase-file ada.txt; \(backup); "
                + "rm -r vault.backups; mv old vault.backups",
            seenBy: backup,
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
        let queue = try DatabaseQueue(
            path: disk.file("vault.db"),
            key: .keyring(Keyring(besideDatabase: disk.file("vault.db")), unlockedBy: .passphrase("Ada's passphrase"))
        )
        _ = try queue.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
        try succeed("! dd if=/dev/zero of=\(disk.path)/fill 2> /dev/null")
        let insert = { try queue.write { try $0.executeUpdate("INSERT INTO notes (text) VALUES (zeroblob(1000000))") } }
        let error = #expect(throws: DatabaseError.self) { try insert() }
        #expect(error.map { error in section.signs.contains { error.message.contains($0) } } == true, "\(error as Any)")
        // By hand, as the page says.
        try succeed("rm \(disk.path)/fill; cd \(disk.path); \(section.commands)")
        try insert()
        #expect(try queue.read { try $0.int(forQuery: "SELECT count(*) FROM notes") } == 302)
        try queue.close()
    }

    @Test(arguments: disasters)
    func sectionEndsItsDisaster(_ disaster: Disaster) throws {
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
            #expect(seen.status != 0 && section.signs.contains(where: said.contains), "\(said)")
        } else {
            try succeed(Self.verify)
        }
        try succeed(disaster.byHand + "; " + section.commands)
        if !disaster.description.hasPrefix("A passphrase") {
            #expect(try disaster.rows.contains(rows(disaster.file) ?? 0))
        }
    }
}
