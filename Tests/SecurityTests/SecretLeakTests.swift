import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherKeys
@testable import CipherPages

/// Where a secret could show: errors, descriptions, dumps, the arguments of a process.
@Suite(.slow) struct SecretLeakTests {
    let directory: TemporaryDirectory
    let path: String
    static let secret = "hunter2-hunter2-hunter2"

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let texts = ["\(value)", String(reflecting: value), dumped]
        // A dump has the elements of an array one in a line, each of which may be the end of another number.
        return texts
            + texts.map { text in
                text.split(separator: "\n").compactMap { $0.split(separator: " ").last }.joined(separator: ", ")
            }
    }

    private func expectSilence(_ value: Any, about secret: String = secret, _ comment: Comment? = nil) {
        for text in texts(of: value) { #expect(!text.contains(secret), comment) }
    }

    @Test func noErrorCarriesKey() throws {
        _ = try DatabaseQueue(path: path, key: .passphrase("right"))
        var errors: [any Error] = []
        func catching(_ body: () throws -> Void) {
            do {
                try body()
                Issue.record("no error")
            } catch {
                errors.append(error)
            }
        }
        catching { _ = try DatabaseQueue(path: path, key: .passphrase(Self.secret)) }
        catching { _ = try DatabaseKey.raw(hex: Self.secret) }
        catching { _ = try DatabaseKey.raw(SecretBytes(utf8: Self.secret)) }
        catching { try Database(path: path).setKey("x'\(Self.secret)'") }
        let queue = try DatabaseQueue(path: path, key: .passphrase("right"))
        catching {
            try queue.inDatabase { try $0.executeStatements(SQL(unsafe: "PRAGMA key = '\(Self.secret)'; nonsense")) }
        }
        catching {
            try queue.inDatabase { try $0.executeUpdate(SQL(unsafe: "PRAGMA rekey = '\(Self.secret)' nonsense")) }
        }
        catching {
            try queue.inDatabase { try $0.executeUpdate(SQL(unsafe: "ATTACH 'nowhere/x' AS y KEY '\(Self.secret)'")) }
        }
        catching { try queue.inDatabase { try $0.executeUpdate(SQL(unsafe: "PRAGMA key = '\(Self.secret)")) } }
        catching { try queue.inDatabase { try $0.executeUpdate(SQL(unsafe: "PRAGMA rekey = \"a\" '\(Self.secret)'")) } }
        catching {
            try queue.inDatabase {
                try $0.executeUpdate(SQL(unsafe: "ATTACH 'file:/nowhere/x?key=\(Self.secret)' AS y"))
            }
        }
        catching { try queue.rekey(.rawWithSalt(SecretBytes(utf8: Self.secret + Self.secret + "12"))) }
        for error in errors { expectSilence(error) }
        #expect(errors.count == 11)
    }

    @Test func noErrorCarriesBoundValue() throws {
        let database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (a UNIQUE CHECK (length(a) > 3))")
        try database.executeUpdate("INSERT INTO t VALUES (?)", Self.secret)
        for value in [Self.secret, "x"] {
            do {
                try database.executeUpdate("INSERT INTO t VALUES (?)", value)
                Issue.record("no error")
            } catch {
                expectSilence(error)
            }
        }
    }

    @Test func functionErrorsQuoteNoValue() throws {
        let database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE VIRTUAL TABLE f USING fts4(a)")
        // Some of these fail on one engine only; what none may do is to show the value.
        for sql in ["SELECT json_extract('{}', ?)", "SELECT a FROM f WHERE f MATCH ?"] {
            for value in ["\"\(Self.secret)", "\(Self.secret):x", "/nowhere/\(Self.secret)/y"] {
                do {
                    let rows = try database.executeQuery(SQL(unsafe: sql), value)
                    while try rows.next() {}
                } catch {
                    expectSilence(error)
                }
            }
        }
        // A value that was bound once, and is read from its column now.
        try database.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        for value in ["\"\(Self.secret)", "\(Self.secret):x"] {
            try database.executeUpdate("INSERT OR REPLACE INTO t VALUES (1, ?)", value)
            for sql in [
                "SELECT json_extract('{}', a) FROM t", "SELECT sqlcipher_export(a) FROM t",
                "SELECT f.a FROM t, f WHERE f MATCH t.a", "CREATE INDEX i ON t (json_extract('{}', a))",
                "UPDATE t SET a = json_set('{}', a, 1)", "SELECT j.value FROM t, json_each('{}', t.a) j",
            ] {
                do {
                    try database.executeUpdate(SQL(unsafe: sql))
                    try database.executeStatements("DROP INDEX IF EXISTS i")
                } catch {
                    expectSilence(error)
                }
            }
        }
        // Of what reads no row the message is shown.
        let error = try #require(throws: DatabaseError.self) { try database.executeUpdate("RELEASE missing") }
        #expect(error.message.contains("no such savepoint: missing"))
        do {
            try database.executeUpdate("ATTACH ? AS x", "/nowhere/\(Self.secret)/y")
            Issue.record("no error")
        } catch {
            expectSilence(error)
        }
        #expect(throws: DatabaseError.self) { try database.executeUpdate("SELECT abs(?)", Int64.min) }
    }

    @Test func statementThatHoldsKeyIsNotKept() throws {
        let queue = try DatabaseQueue(
            path: path,
            key: .sample("right"),
            configuration: Configuration { $0.unsafeAllowsAllSQL = true }
        )
        let other = directory.file("other.db")
        try queue.inDatabase { database in
            try database.executeUpdate(SQL(unsafe: "ATTACH '\(other)' AS y KEY '\(Self.secret)'"))
            try database.executeUpdate("DETACH y")
        }
        expectSilence(queue)
    }

    @Test func openDatabasesAreDumpedWithoutTheirKeys() throws {
        let raw = (0..<32).map { UInt8(0xc0 + $0 % 16) }
        let key = try DatabaseKey.raw(SecretBytes(copying: raw))
        let database = Database(path: path)
        try database.open(key: key)
        let queue = try DatabaseQueue(path: path, key: key)
        // As hexadecimal digits, as a list of numbers, and as text.
        for spelling in ["c0c1c2c3", "192, 193, 194", "\u{c0}\u{c1}\u{c2}"] {
            expectSilence(database, about: spelling)
            expectSilence(queue, about: spelling)
            expectSilence(key, about: spelling)
        }
        #expect(texts(of: raw).last?.contains("192, 193, 194") == true)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/cmdline"), "this system has no /proc"))
    func commandTakesNoSecretArgument() throws {
        let help = try Program.run(Program.built("rekey"), ["--experimental-dump-help"]).output
        let names = help.matches(of: /"kind" : "long",\s+"name" : "([a-z-]+)"/).map { "--" + $0.output.1 }
        let options = Set(names)
        #expect(
            options == [
                "--passphrase-file", "--passphrase-fd", "--passphrase-env", "--key-file", "--unsafe-permissions",
                "--new-passphrase-file", "--new-passphrase-fd", "--new-passphrase-env", "--new-key-file", "--json",
                "--version", "--help", "--quiet", "--in-place", "--keep-old",
                "--format", "--page-size", "--kdf-iter", "--yes-write-plaintext", "--pages-only", "--prometheus",
                "--map", "--map-svg",
                "--dry-run", "--file-kdf-iter", "--milliseconds", "--passphrase-command", "--passphrase-credential",
                "--passphrase-kernel-key", "--keyring", "--recovery", "--external", "--slot", "--new-keyring",
                "--new-external", "--kdf", "--label", "--force", "--yes-destroy-the-data", "--export-raw-key",
                "--yes-forget-backups", "--change-slot", "--command", "--allow-command",
                "--generation", "--at", "--at-least", "--allow-unauthenticated", "--keep", "--keep-within",
                "--keep-daily", "--follow", "--interval",
                // The salt is no secret.
                "--salt", "--wait", "--allow-weaker", "--cipher-page-size", "--kdf-algorithm", "--hmac-algorithm",
                "--hmac-pgno",
                "--hmac-salt-mask", "--fast-kdf-iter", "--plaintext-header", "--file-format", "--file-page-size",
                "--file-cipher-page-size", "--file-kdf-algorithm", "--file-hmac-algorithm", "--file-hmac-pgno",
                "--file-hmac-salt-mask", "--file-fast-kdf-iter", "--file-plaintext-header",
                "--new-passphrase-command", "--new-passphrase-credential", "--new-passphrase-kernel-key",
            ]
        )
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "this system has no /proc"))
    func commandLeavesNoCoreDump() throws {
        _ = try DatabaseQueue(path: path, key: .passphrase("right"))
        // Root may look into every process: it is started for somebody else then.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        let rekey = try started(
            "\(Program.built("rekey")) verify '\(path)' --passphrase-fd 0",
            as: "rekey",
            until: Self.noDump
        )
        #expect(rekey.limits.contains(Self.noDump) && rekey.owner == 0)
        // What others may look into and dump, started in the same way.
        let other = try started("cat", as: "cat", until: "core file size")
        #expect(!other.limits.contains(Self.noDump) && (other.owner != 0 || getuid() == 0), "\(other)")
    }

    private static let noDump = "core file size 0 0"

    /// The limits of a program that waits for its input, and whose its memory is.
    private func started(_ command: String, as name: String, until limit: String) throws -> (
        limits: String, owner: Int?
    ) {
        // A limit that is to be seen changing, where this process may set it.
        let user = getuid() == 0 ? "setpriv --reuid 65534 --clear-groups" : ""
        let program = try StartedProgram(
            "/bin/sh",
            ["-c", "ulimit -c 1000 2>/dev/null; exec \(user) \(command)"],
            input: .typed,
            output: .none,
            errors: .none
        )
        defer { withExtendedLifetime(program) {} }
        let place = "/proc/\(program.number)"
        var limits = ""
        for _ in 0..<6000 {
            limits = try String(contentsOfFile: place + "/limits", encoding: .utf8)
                .split(separator: " ").joined(separator: " ")
            let isStarted = try String(contentsOfFile: place + "/status", encoding: .utf8).hasPrefix("Name:\t\(name)\n")
            if isStarted, limits.contains(limit) { break }
            Thread.sleep(forTimeInterval: 0.01)
        }
        // > /proc/pid: files are owned by root:root if the process's "dumpable" attribute has a value other than 1 (proc(5))
        let attributes = try FileManager.default.attributesOfItem(atPath: place + "/mem")
        return (limits, attributes[.ownerAccountID] as? Int)
    }

    @Test func commandPrintsNoSecret() throws {
        _ = try DatabaseQueue(path: path, key: .passphrase("right"))
        for arguments in [["verify", path], ["verify", path, "--json"], ["inspect", path]] {
            for source in ["--passphrase-env", "--key-file"] {
                let value = source == "--key-file" ? try directory.write(Self.secret.utf8, to: "key") : "SECRET"
                let outcome = try Program.run(
                    Program.built("rekey"),
                    arguments + [source, value],
                    environment: ["SECRET": Self.secret]
                )
                #expect(outcome.status != 0)
                #expect(!(outcome.output + outcome.errors).contains(Self.secret))
            }
        }
    }

    @Test func succeedingCommandPrintsNoSecret() throws {
        let (new, keyring) = ("another-another-another", directory.file("test.db.keyring"))
        let plain = try directory.write(Self.secret.utf8, to: "old")
        let next = try directory.write(new.utf8, to: "new")
        _ = try DatabaseQueue(path: path, key: .passphrase(Self.secret))
        let old = [["--passphrase-env", "SECRET"], ["--passphrase-file", plain]]
        let opened = ["--keyring", keyring, "--passphrase-env", "NEW"]
        let commands: [[String]] =
            old.flatMap { key in
                [
                    ["verify"], ["verify", "--json"], ["inspect"], ["inspect", "--json"], ["status"],
                    ["status", "--json"],
                ]
                .map { $0 + [path] + key }
            } + [
                ["copy", path, directory.file("copy.db"), "--new-passphrase-file", next] + old[0],
                ["backup", path, directory.file("backups")] + old[0],
                ["backups", "check", directory.file("backups"), "--json"] + old[0],
                ["recover", path, directory.file("saved.db")] + old[0],
                ["change", path, "--new-passphrase-env", "NEW"] + old[1],
                ["change", path, "--in-place", "--new-passphrase-env", "SECRET", "--passphrase-env", "NEW"],
                ["keyring", "init", path, "--new-passphrase-env", "NEW"] + old[1], ["verify", path] + opened,
                ["keyring", "list", path, "--json", "--passphrase-env", "NEW"],
                ["keyring", "add", path, "--passphrase-env", "NEW", "--new-key-file", plain + ".key"],
                ["keyring", "rotate", path, "--passphrase-env", "NEW"],
            ]
        _ = try directory.write(DatabaseKey.sampleBytes("key file"), to: "old.key")
        let spellings = [Self.secret, new].flatMap { text in
            [text, Array(text.utf8).hexadecimal, Data(text.utf8).base64EncodedString(), String(text.reversed())]
        }
        for command in commands {
            let outcome = try Program.run(
                Program.built("rekey"),
                command,
                environment: ["SECRET": Self.secret, "NEW": new]
            )
            let said = outcome.output + outcome.errors
            #expect(outcome.status == 0, "\(command): \(said)")
            for secret in spellings { #expect(!said.lowercased().contains(secret.lowercased()), "\(command)") }
        }
    }

    @Test func commandPrintsNoKey() throws {
        let key = (0..<32).map { UInt8(0xc0 + $0 % 16) }
        _ = try DatabaseQueue(path: path, key: .raw(SecretBytes(copying: key)))
        let file = try directory.write(key, to: "key")
        let other = try directory.write(key.reversed(), to: "other")
        for command in [
            ["verify", path], ["verify", path, "--json"], ["inspect", path], ["change", path, "--new-key-file", other],
        ] {
            let outcome = try Program.run(Program.built("rekey"), command + ["--key-file", file])
            #expect(outcome.status == 0, "\(command)")
            let said = (outcome.output + outcome.errors).lowercased()
            #expect(!said.contains("c0c1c2c3") && !said.contains("c3c2c1c0"), "\(command)")
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem"), "this system has no /proc"))
    func closedDatabaseLeavesNoKeyInMemory() async {
        // In a process of its own, where no other test holds a key.
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            // The needles are kept masked, so that the search does not find itself.
            let mask: UInt8 = 0x5a
            func masked(_ secret: SecretBytes) throws -> [UInt8] { try secret.withUnsafeBytes { $0.map { $0 ^ mask } } }
            var needles: [[UInt8]] = []
            func use() throws {
                let passphrase = try SecretBytes.random(count: 24)
                let format = try #require(Engine.current.formats.first)
                needles.append(try masked(passphrase))
                let queue = try DatabaseQueue(path: directory.file("test.db"), key: .passphrase(passphrase))
                try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                let salt = try Array(FileState(directory.file("test.db")).bytes.prefix(16))
                let derived = try KeyDerivation.pbkdf2(
                    format.keyDerivation,
                    password: passphrase,
                    salt: salt,
                    iterations: format.iterations,
                    count: 32
                )
                needles.append(try masked(derived))
                let key = try DatabaseKey.raw(derived).derive(salt: salt, format: format)
                needles.append(try masked(KeyDerivation.pageAuthenticationKey(for: key, format: format)))
                _ = try queue.openConnection()
                // What looks at several pages at once. The first goes back to the system whole, later ones to the allocator.
                _ = try MultiBufferMAC(key: key, format: format)
                let lanes = try MultiBufferMAC(key: key, format: format)
                if let lanes { needles += [0, 64].map { lanes.key[$0..<($0 + 64)].map { $0 ^ mask } } }
                let pages = PageAuthenticator(try PageCipher(key: key, format: format), lanes)
                let damaged = try FileState(directory.file("test.db")).bytes.withUnsafeBytes {
                    try pages.damaged(in: .init(first: 1, pageSize: format.pageSize, bytes: $0))
                }
                #expect(damaged.isEmpty)
                #expect(try MemoryScan.count(needles, mask: mask).allSatisfy { $0 > 0 }, "while in use they are there")
                try queue.close()
            }
            try use()
            let left = try MemoryScan.count(needles, mask: mask)
            #expect(left == Array(repeating: 0, count: needles.count), "\(left)")
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem"), "this system has no /proc"))
    func closedKeyringLeavesNothingInMemory() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let mask: UInt8 = 0x5a
            func masked(_ secret: SecretBytes) throws -> [UInt8] { try secret.withUnsafeBytes { $0.map { $0 ^ mask } } }
            var needles: [[UInt8]] = []
            func note(_ key: DatabaseKey) throws {
                guard case .raw(let bytes) = key.material else { return }
                needles.append(try masked(bytes))
            }
            func use() throws {
                let passphrase = try SecretBytes.random(count: 40)
                let code = try RecoveryCode.random()
                needles = try [masked(passphrase), masked(code.bytes), masked(code.text())]
                let keyring = Keyring(path: directory.file("test.keyring"))
                let unlocked = try keyring.create(with: .passphrase(passphrase))
                try unlocked.add(code, typedBack: RecoveryCode(typed: code.text()))
                needles.append(try masked(unlocked.masterKey))
                try note(unlocked.databaseKey())
                let slot = try #require(unlocked.content().slots.first)
                needles.append(try masked(slot.kdf.derive(.passphrase(passphrase), slot.salt)))
                let queue = try DatabaseQueue(path: directory.file("test.db"), key: unlocked)
                try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                try queue.rotateKey(of: keyring.unlock(.recoveryCode(code)))
                try note(unlocked.databaseKey())
                #expect(
                    try needles.count == 7
                        && MemoryScan.count([needles[0], needles[3]], mask: mask).allSatisfy { $0 > 0 }
                )
                try queue.close()
            }
            try use()
            let left = try MemoryScan.count(needles, mask: mask)
            #expect(left == Array(repeating: 0, count: needles.count), "\(left)")
        }
    }

    /// The pages that a change of the key or of the format decrypts itself.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem"), "this system has no /proc"))
    func releasedPagesLeaveNoPlaintextInMemory() async {
        await #expect(processExitsWith: .success) {
            let mask: UInt8 = 0x5a
            var needle = [UInt8](repeating: 0, count: 40)
            try needle.withUnsafeMutableBytes { try Cryptography.randomize($0) }
            func use() throws {
                let buffer = PageBuffer(pageSize: 1024, capacity: 4)
                for place in buffer.bytes.indices { buffer.bytes[place] = needle[place % 40] ^ mask }
                #expect(try MemoryScan.count([needle], mask: mask)[0] > 50, "while in use it is there")
                withExtendedLifetime(buffer) {}
            }
            try use()
            #expect(try MemoryScan.count([needle], mask: mask) == [0])
        }
    }

    /// What is derived from a `String` goes. Of the string itself one copy was left when this was measured; see SECURITY.md.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem"), "this system has no /proc"))
    func stringPassphraseLeavesNoKeyInMemory() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let mask: UInt8 = 0x5a
            var needles: [[UInt8]] = []
            func use() throws {
                var passphrase = ""
                for _ in 0..<40 { passphrase.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 97...122))) }
                let format = try #require(Engine.current.formats.first)
                let queue = try DatabaseQueue(path: directory.file("test.db"), key: .passphrase(passphrase))
                let salt = try Array(FileState(directory.file("test.db")).bytes.prefix(16))
                let derived = try DatabaseKey.passphrase(passphrase).derive(salt: salt, format: format)
                needles.append(try derived.withPageKey { $0.map { $0 ^ mask } })
                try queue.close()
            }
            try use()
            let left = try MemoryScan.count(needles, mask: mask)
            #expect(left == [0])
        }
    }

    /// Decrypted pages, in the memory that the engine had and gave back. Without being asked it leaves them there.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem"), "this system has no /proc"))
    func engineWipesItsMemoryWhereItCan() async {
        await #expect(processExitsWith: .success) {
            let left = try EngineMemory.pagesLeft()
            #expect(left > EngineMemory.placesInRow)
        }
        await #expect(processExitsWith: .success) {
            let isFour = Engine.current.sqlcipherVersion?.hasPrefix("4") == true
            #expect(Engine.current.wipeMemory() == isFour)
            let left = try EngineMemory.pagesLeft()
            #expect(isFour ? left < EngineMemory.placesInRow : left > EngineMemory.placesInRow, "\(left)")
        }
    }

    @Test(arguments: [
        "VACUUM INTO 'file:/nonexistent/x.db?a=b&key=secretmarker'",
        "VACUUM INTO 'file:/nonexistent/x.db?hexkey=secretmarker'",
        "PRAGMA key = 'secretmarker'",
    ])
    func noErrorRepeatsStatementThatMayHoldKey(sql: String) throws {
        let directory = try TemporaryDirectory()
        let database = Database(path: directory.file("a.db"))
        try database.open(key: .sample("k"))
        #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: { !"\($0)".contains("secretmarker") }
        #expect { try database.executeUpdate(SQL(unsafe: sql)) } throws: { !"\($0)".contains("secretmarker") }
    }

    @Test func noErrorRepeatsFileThatValueNamed() throws {
        let directory = try TemporaryDirectory()
        let database = Database(path: directory.file("a.db"))
        try database.open(key: .sample("k"))
        #expect { try database.executeUpdate("VACUUM INTO ?", "/nonexistent/secretmarker.db") } throws: {
            !"\($0)".contains("secretmarker")
        }
    }
}

/// What the command leaves when it crashes.
@Suite(.slow) struct CrashTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    /// Swift's reporter of crashes, beside the compiler.
    private static let crashReporter: String? = {
        let found = try? Program.run("/bin/sh", ["-c", "readlink -f $(command -v swift)"]).output
        guard let swift = found?.trimmingCharacters(in: .whitespacesAndNewlines), !swift.isEmpty else { return nil }
        let path = URL(fileURLWithPath: swift).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("libexec/swift/linux/swift-backtrace").path
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }()

    /// A register may hold a key.
    @Test(
        .enabled(if: crashReporter != nil, "this system has no swift-backtrace"),
        arguments: ["SEGV", "BUS", "FPE", "ILL", "TRAP", "ABRT"]
    )
    func crashPrintsNoRegisters(signal: String) throws {
        _ = try DatabaseQueue(path: path, key: .passphrase("right"))
        // The shell kills the command when that waits for its passphrase.
        let script = """
            mkfifo -m 600 "$0/pipe"
            "$1" verify "$0/test.db" --passphrase-file "$0/pipe" &
            exec 3> "$0/pipe"
            kill -\(signal) $!
            exec 3>&-
            wait $!
            echo $?
            """
        let outcome = try Program.run(
            "/bin/sh",
            ["-c", script, directory.path, Program.built("rekey")],
            environment: ["SWIFT_BACKTRACE": "enable=yes,symbolicate=off,swift-backtrace=\(Self.crashReporter ?? "")"]
        )
        #expect(outcome.output.hasSuffix("\n") && Int(outcome.output.dropLast()) ?? 0 > 128, "\(outcome.output)")
        for word in ["Backtrac", "crashed", "rax", "Registers"] {
            #expect(!outcome.errors.contains(word), "\(outcome.errors)")
        }
    }
}
