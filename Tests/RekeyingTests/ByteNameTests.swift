import CipherDB
import CipherKeys
import CipherSystem
import Rekeying
import TestSupport
import Testing

/// Files whose names are not UTF-8, through every call that takes a path.
@Suite(.enabled(if: ByteNames.arePossible, "this file system takes only names in UTF-8"))
struct ByteNameTests {
    let directory: TemporaryDirectory
    let path: String
    let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file(Self.name("out"))
        key = try .random()
    }

    /// Another name than the one with U+FFFD in the place of the byte.
    private static func name(_ stem: String) -> String {
        String(pathBytes: Array(stem.utf8) + [0xFF, 0x2E, 0x64, 0x62])
    }

    private var names: Set<[UInt8]> {
        get throws { Set(try FileCalls.names(beside: path).map(\.pathBytes)).subtracting([[0x2E], [0x2E, 0x2E]]) }
    }

    private func make(_ mode: JournalMode = .delete) throws {
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.journalMode = mode })
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func answer(_ path: String, _ key: DatabaseKey) throws -> String? {
        let database = Database(path: path)
        try database.open(key: key, flags: .readWrite)
        defer { database.close() }
        return try database.string(forQuery: SampleFile.question)
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func databasesAreOpenedUnderTheirBytes(mode: JournalMode) throws {
        try make(mode)
        #expect(try names == [Self.name("out").pathBytes])
        #expect(try answer(path, key) == SampleFile.answer)
        let pool = try DatabasePool(path: path, key: key)
        #expect(try pool.read { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
        try pool.rekey(.sample("other"))
        try pool.close()
        let uri = Database(path: "file:" + directory.path + "/out%ff.db?mode=rw")
        try uri.open(key: .sample("other"), flags: [.readWrite, .uri])
        #expect(try uri.string(forQuery: SampleFile.question) == SampleFile.answer)
        uri.close()
        #expect(try names == [Self.name("out").pathBytes])
    }

    @Test func copiesAndAttachedFilesKeepTheirBytes() throws {
        try make()
        let database = Database(path: path)
        try database.open(key: key)
        try database.attach(directory.file(Self.name("side")), as: "side", key: key)
        try database.executeUpdate("CREATE TABLE side.t (a)")
        let copy = Database(path: directory.file(Self.name("copy")))
        try copy.open(key: key)
        try database.backup(to: copy)
        copy.close()
        let plain = Database(
            path: directory.file(Self.name("plain")),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try database.executeStatements("DETACH side")
        try database.backup(to: plain, decrypting: true)
        #expect(try plain.string(forQuery: SampleFile.question) == SampleFile.answer)
        plain.close()
        database.close()
        #expect(try answer(directory.file(Self.name("copy")), key) == SampleFile.answer)
        #expect(try names == Set(["out", "side", "copy", "plain"].map { Self.name($0).pathBytes }))
    }

    @Test func operationsOnFilesKeepTheirBytes() throws {
        try make()
        let (new, other) = (try DatabaseKey.random(), try DatabaseKey.random())
        let file = DatabaseFile(path: path)
        try file.changeKey(from: key, to: new, keepingOldAs: directory.file(Self.name("old")))
        _ = try file.changeKeyInPlace(from: new, to: other)
        try file.copy(key: other, to: directory.file(Self.name("copy")), newKey: key)
        _ = try file.recover(key: other, to: directory.file(Self.name("recovered")))
        let keyring = Keyring(besideDatabase: path)
        let secret = try KeyringSecret.keyFile(.random(count: 32))
        try file.moveToKeyring(keyring.create(with: secret, for: path), from: other)
        try file.rotateKey(of: keyring.unlock(secret))
        let queue = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret))
        #expect(try queue.inDatabase { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
        try queue.close()
        #expect(try answer(directory.file(Self.name("old")), key) == SampleFile.answer)
        #expect(try answer(directory.file(Self.name("copy")), key) == SampleFile.answer)
        let all = ["out", "old", "copy", "recovered"].map { Self.name($0) } + [Self.name("out") + ".keyring"]
        #expect(try names == Set(all.map(\.pathBytes)))
    }
}
