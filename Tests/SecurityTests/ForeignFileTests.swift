import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

/// Files that somebody else made, or put where we make ours.
@Suite(.slow) struct ForeignFileTests {
    let directory: TemporaryDirectory
    let path: String
    let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .random()
    }

    private func make() throws {
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    /// What is no file: a pipe without a writer, a directory, devices with no end and with none to begin with.
    private func noFiles() throws -> [String] {
        let pipe = directory.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        return [pipe, directory.path, "/dev/zero", "/dev/null", "/dev/full"]
    }

    @Test func nonFileIsRefusedByEveryOperation() throws {
        for path in try noFiles() {
            let file = DatabaseFile(path: path)
            let keyring = Keyring(path: path)
            let calls: [() throws -> Void] = [
                { _ = try DatabaseQueue(path: path, key: key) },
                { _ = try DatabasePool(path: path, key: key) },
                { _ = try file.inspect() }, { _ = try file.verify(key: key) },
                { try file.changeKey(from: key, to: .random()) }, { try file.encrypt(with: key) },
                { try file.decryptToPlaintext(key: key) }, { try file.migrate(key: key) },
                { _ = try file.recover(key: key, to: directory.file("new.db")) },
                { _ = try file.copy(key: key, to: directory.file("new.db")) },
                { _ = try keyring.content() }, { _ = try keyring.unlock(.keyFile(.random(count: 32))) },
                { try keyring.create(with: .keyFile(.random(count: 32))) }, { try keyring.erase() },
            ]
            for (number, call) in calls.enumerated() {
                #expect(throws: (any Error).self, "\(path), call \(number)") { try call() }
            }
        }
        #expect(directory.names == ["pipe"])
    }

    @Test func nonFileBesideDatabaseIsKept() throws {
        try make()
        let before = try FileState(path)
        for suffix in ["-journal", "-wal", "-shm"] {
            for make: (String) -> Int32 in [{ mkfifo($0, 0o600) }, { mkdir($0, 0o700) }] {
                #expect(make(path + suffix) == 0)
                #expect(throws: (any Error).self) { _ = try DatabaseQueue(path: path, key: key) }
                #expect(throws: (any Error).self) { try DatabaseFile(path: path).changeKey(from: key, to: .random()) }
                #expect(remove(path + suffix) == 0)
            }
        }
        #expect(try FileState(path) == before)
    }

    @Test(arguments: ["-journal", "-wal", "-shm"])
    func linkBesideNewFileIsNotFollowed(suffix: String) throws {
        let victim = try directory.write([UInt8](repeating: 7, count: 5000), to: "victim")
        let before = try FileState(victim)
        let wal = Configuration {
            $0.journalMode = .wal
            $0.allowsPlaintext = true
        }
        try make()
        for make in [link, symlink] {
            #expect(make(victim, directory.file("new.db") + suffix) == 0)
            for key in [key, nil] {
                #expect(throws: (any Error).self) {
                    let queue = try DatabaseQueue(path: directory.file("new.db"), key: key, configuration: wal)
                    try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                }
            }
            #expect(throws: (any Error).self) {
                let database = Database(path: path)
                try database.open(key: key)
                try database.attach(directory.file("new.db"), as: "n", key: key)
                try database.executeStatements("PRAGMA n.journal_mode = WAL; CREATE TABLE n.t (a)")
            }
            #expect(unlink(directory.file("new.db") + suffix) == 0)
            #expect(try FileState(victim) == before)
        }
    }

    /// What the engine would write into it, it would write into another file.
    @Test func linkAsJournalIsNotFollowed() throws {
        try make()
        let victim = try directory.write([UInt8](repeating: 7, count: 5000), to: "victim")
        let before = (try FileState(path), try FileState(victim))
        for suffix in ["-journal", "-wal", "-shm"] {
            for make in [link, symlink] {
                #expect(make(victim, path + suffix) == 0)
                for mode in [JournalMode.delete, .wal] {
                    #expect(throws: DatabaseError.self) {
                        let queue = try DatabaseQueue(
                            path: path,
                            key: key,
                            configuration: Configuration { $0.journalMode = mode }
                        )
                        try queue.inDatabase { try $0.executeStatements("CREATE TABLE more (a)") }
                    }
                }
                let file = DatabaseFile(path: path)
                #expect(throws: (any Error).self) { try file.changeKey(from: key, to: .random()) }
                #expect(throws: (any Error).self) {
                    _ = try DatabaseFile(path: path).changeKeyInPlace(from: key, to: .random())
                }
                #expect(unlink(path + suffix) == 0)
            }
        }
        #expect(try (FileState(path), FileState(victim)) == before)
    }

    @Test func linkBesideAttachedPlaintextIsNotFollowed() throws {
        let victim = try directory.write([UInt8](repeating: 7, count: 5000), to: "victim")
        let plain = directory.file("plain.db")
        let database = Database(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try database.open(key: key)
        try database.attachPlaintext(plain, as: "p")
        try database.executeStatements("CREATE TABLE p.t (a); DETACH p")
        let before = try (FileState(plain), FileState(victim))
        for suffix in ["-journal", "-wal", "-shm"] {
            for make in [link, symlink] {
                #expect(make(victim, plain + suffix) == 0)
                #expect(throws: DatabaseError.self) { try database.attachPlaintext(plain, as: "p") }
                #expect(unlink(plain + suffix) == 0)
            }
        }
        #expect(try (FileState(plain), FileState(victim)) == before)
        try database.attachPlaintext(plain, as: "p")
    }

    /// Headers that promise sizes which are not there, and numbers at the ends of what their fields hold.
    @Test func craftedHeadersAreErrorsAndNoCrash() throws {
        var random = SplitMix(20)
        let header = Array("SQLite format 3\0".utf8)
        for size in [16, 100, 512, 4096, 70_000] {
            for _ in 0..<(Extent.isComplete ? 40 : 12) {
                var bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
                if Bool.random(using: &random) { bytes.replaceSubrange(0..<16, with: header) }
                if size > 16 {
                    for field in [16, 18, 20, 24, 28, 32, 36, 52, 56] where field + 4 <= size {
                        let ends: [[UInt8]] = [
                            [0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff], [0, 1, 0, 1], [0x80, 0, 0, 0],
                        ]
                        bytes.replaceSubrange(field..<(field + 4), with: ends.randomElement(using: &random)!)
                    }
                }
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                let before = try FileState(path)
                _ = try? DatabaseFile(path: path).inspect()
                #expect(throws: (any Error).self) { _ = try DatabaseQueue(path: path, key: key) }
                #expect(throws: (any Error).self) { try DatabaseFile(path: path).changeKey(from: key, to: .random()) }
                #expect(throws: (any Error).self) {
                    _ = try DatabaseFile(path: path).recover(key: key, to: directory.file("new.db"))
                }
                #expect(try FileState(path) == before)
            }
        }
        #expect(directory.names == ["test.db"])
    }

    // MARK: Where we make files

    /// The names have 64 random bits; this is what stands behind them.
    @Test func newFileReplacesNothing() throws {
        let target = try directory.write("precious".utf8, to: "target")
        try FileManager.default.createSymbolicLink(atPath: directory.file("link"), withDestinationPath: target)
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("dangling"),
            withDestinationPath: directory.file("nothing")
        )
        for name in ["target", "link", "dangling"] {
            #expect(throws: Errno.self) { _ = try FileCalls.create(directory.file(name)) }
            #expect(throws: KeyringError.self) {
                try Keyring(path: directory.file(name)).create(with: .keyFile(.random(count: 32)))
            }
        }
        #expect(try FileState(target).bytes == Data("precious".utf8))
        #expect(directory.names == ["dangling", "link", "target"])
    }

    /// Somebody watches the directory, and puts a link to a file of his victim's, or a file, in the place of each new name.
    @Test(arguments: [false, true])
    func replacedNewFileStopsRun(byALink: Bool) throws {
        try make()
        let victim = try directory.write("precious".utf8, to: "victim")
        let new = try DatabaseKey.random()
        var replaced = 0
        for _ in 0..<20 {
            let present = try FileState(path)
            do {
                try DatabaseFile(path: path).changeKey(from: key, to: new) { progress in
                    guard [.writing, .verifying].contains(progress.stage) else { return }
                    for name in directory.names where name.hasPrefix("test.db.rekey-") {
                        unlink(directory.file(name))
                        replaced += 1
                        if byALink {
                            symlink(victim, directory.file(name))
                        } else {
                            _ = try directory.write("evil".utf8, to: name)
                        }
                    }
                }
                Issue.record("the change did not notice")
            } catch {
                #expect(try FileState(path).bytes == present.bytes)
            }
            for name in directory.names where name.hasPrefix("test.db.rekey-") { unlink(directory.file(name)) }
        }
        #expect(replaced > 0)
        #expect(try FileState(victim).bytes == Data("precious".utf8))
        #expect(try DatabaseFile(path: path).verify(key: key).isSound)
    }

    @Test func linkedLeftoverIsNotOverwritten() throws {
        try make()
        let precious = try directory.write("precious".utf8, to: "precious")
        symlink(precious, path + ".rekey-0123456789abcdef")
        link(precious, path + ".rekey-fedcba9876543210")
        try DatabaseFile(path: path).changeKey(from: key, to: .random())
        #expect(try FileState(precious).bytes == Data("precious".utf8))
    }

    // MARK: Rights

    /// Under a umask that takes nothing away.
    @Test func commandFilesAreOwnerOnly() throws {
        try make()
        let keyFile = try directory.write(key.exported().withUnsafeBytes { Array($0) }, to: "key")
        let data = directory.file("data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
        let options = ["--key-file", keyFile]
        let secret = ["--new-key-file", try directory.write([UInt8](repeating: 7, count: 32), to: "secret")]
        let runs = [
            ["copy", path, data + "/copy.db"] + options,
            ["recover", path, data + "/recovered.db"] + options,
            ["verify", path, "--map-svg", data + "/map.svg"] + options,
            ["keyring", "init", data + "/copy.db"] + options + secret + ["--keep-old", data + "/kept.db"],
            ["keyring", "backup", data + "/copy.db", data + "/backup", "--key-file", secret[1]],
            ["keyring", "rotate", data + "/copy.db", "--key-file", secret[1]],
        ]
        for arguments in runs {
            let done = try Program.run(
                "/bin/sh",
                ["-c", "umask 0; exec \"$0\" \"$@\"", Program.built("rekey")] + arguments
            )
            #expect(done.status == 0, "\(arguments): \(done.errors)")
        }
        let made = try FileManager.default.contentsOfDirectory(atPath: data).sorted()
        #expect(made == ["backup", "copy.db", "copy.db.keyring", "kept.db", "map.svg", "recovered.db"])
        for name in made {
            let attributes = try FileManager.default.attributesOfItem(atPath: data + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }
}
