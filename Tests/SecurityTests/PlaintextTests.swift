import CipherDB
import Foundation
import TestSupport
import Testing

/// What a thief finds in the files that a database makes.
@Suite struct PlaintextTests {
    let folder: TemporaryFolder
    let path: String
    static let markers = ["plaintextmarker", "CREATE TABLE", "people_name", "SQLite format 3", "secretnote"]

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("test.db")
    }

    private func findings() throws -> [String] {
        var found: [String] = []
        for name in folder.names {
            let bytes = try FileState(folder.file(name)).bytes
            for marker in Self.markers where bytes.range(of: Data(marker.utf8)) != nil {
                found.append("\(marker) in \(name)")
            }
        }
        return found
    }

    private func use(_ mode: JournalMode) throws {
        let configuration = Configuration {
            $0.journalMode = mode
            // So small that pages are written to the file, and their old images to the journal, before the commit.
            $0.pageCacheSize = 16 << 10
        }
        let queue = try DatabaseQueue(path: path, key: .passphrase("secret"), configuration: configuration)
        try queue.inTransaction { try $0.executeStatements(SampleFile.script) }
        var names: Set<String> = []
        try queue.inTransaction { database in
            try database.executeUpdate("UPDATE people SET name = name || 'secretnote', note = randomblob(200)")
            let rows = try database.executeQuery("SELECT name FROM people ORDER BY note, name")
            while try rows.next() {}
            names = Set(folder.names)
            #expect(try findings() == [])
        }
        #expect(names.count > 1, "there was a journal or a log to look into: \(names)")
        #expect(try findings() == [])
        try queue.rekey(.passphrase("new"))
        #expect(try findings() == [])
        try queue.close()
        #expect(try findings() == [])
    }

    @Test(arguments: [JournalMode.delete, .truncate, .persist, .wal])
    func noFileOfADatabaseHoldsItsContentOrSchema(mode: JournalMode) throws {
        try use(mode)
    }

    @Test func thePlaintextOfTheSameContentIsFound() throws {
        // Or the search above would prove nothing.
        let plain = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try plain.inDatabase { try $0.executeStatements(SampleFile.script) }
        #expect(try findings().count >= 4)
    }

    @Test func temporaryTablesStayInMemory() throws {
        let queue = try DatabaseQueue(path: path, key: .passphrase("secret"))
        let store: Int = try queue.inDatabase { database in
            let rows = try database.executeQuery("PRAGMA temp_store")
            _ = try rows.next()
            return try rows[0]
        }
        #expect(store == 2, "2 is memory")
    }

    @Test func withoutAKeyNoFileIsMadeUnlessPlaintextIsAllowed() throws {
        #expect(throws: KeyError.keyMissing) { _ = try DatabaseQueue(path: path) }
        let database = Database(path: path)
        try database.open()
        #expect(throws: KeyError.keyMissing) { try database.executeStatements("CREATE TABLE t (a)") }
        #expect(throws: KeyError.keyMissing) { try database.executeUpdate("PRAGMA user_version = 1") }
        #expect(throws: KeyError.keyMissing) { try database.beginTransaction() }
        database.close()
        #expect(folder.names.isEmpty)
    }

    @Test func anEmptyKeyNeverMakesAFile() throws {
        #expect(throws: MalformedKey.self) { _ = try DatabaseQueue(path: path, key: .passphrase("")) }
        let database = Database(path: path)
        try database.open()
        #expect(throws: MalformedKey.self) { try database.setKey("") }
        #expect(throws: KeyError.keyMissing) { try database.executeStatements("CREATE TABLE t (a)") }
        database.close()
        #expect(folder.names.isEmpty)
    }
}
