import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// The code of Documentation/Code.md.
@Suite struct PageCode {
    // begin
    struct Note: Codable, RowDecodable, MutablePersistableRecord, Sendable {
        static let databaseTableName = "notes"
        var id: Int64?
        var text: String
        var due: Date?
        mutating func didInsert(_ rowID: Int64) { id = rowID }  // a PersistableRecord has none
    }
    // end

    private func opening(_ path: String, _ bytes: Data, _ url: URL) throws {
        // begin
        let queue = try DatabaseQueue(path: path, key: .passphrase("correct horse battery staple"))
        let pool = try DatabasePool(path: path, key: .raw(bytes))  // 32 random bytes
        let inMemory = try DatabaseQueue(path: nil)
        let plaintext = Configuration { $0.allowsPlaintext = true }
        let open = try DatabaseQueue(path: url.databasePath, configuration: plaintext)
        let old = Configuration { $0.format = .v3 }  // or .any
        let shared = try DatabaseQueue(path: path, key: .passphrase("…"), configuration: old, flags: .readOnly)

        let database = Database(path: path)  // FMDB's way: one connection, for one thread at a time
        try database.open()
        try database.setKey("correct horse battery staple")
        try database.rekey("another passphrase")
        database.close()
        // end
        print(queue, pool, inMemory, open, shared)
    }

    private func keys() throws {
        // begin
        let key = try DatabaseKey.random()
        let digits = try key.exported()  // store them in a keychain or a key service
        let same = try DatabaseKey.raw(hex: digits)
        let asked = try KeySource.prompt("Passphrase", confirmed: false).readPassphrase()
        let format = try CipherFormat(.v4) {
            $0.pageSize = 8192
            $0.iterations = 1_000_000
        }
        // end
        print(same, asked, format)
    }

    private func keyrings(_ path: String, _ secret: KeyringSecret, _ textField: String) async throws {
        // begin
        let keyring = Keyring(besideDatabase: path)
        let pool = try await DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret))  // makes both, once
        let unlocked = try await keyring.unlock(secret)
        try await unlocked.add(.passphrase("Bob's own passphrase"), label: "Bob")
        let code = try RecoveryCode.random()
        try code.text().withUnsafeBytes { print(String(decoding: $0, as: UTF8.self)) }  // to be written on paper
        let typed = try RecoveryCode(typed: textField)
        try await unlocked.add(code, typedBack: typed, label: "safe")
        let withCode = try await keyring.unlock(.recoveryCode(typed))
        for slot in try await keyring.content().slots { print(slot.number, slot.label) }
        try await unlocked.change(slot: 1, to: .passphrase("a better passphrase"))
        try await unlocked.remove(label: "Bob")
        try await unlocked.backUp(to: "keyring.copy")
        try await pool.rotateKey(of: unlocked)  // with a keyring this is what rekey is without
        // end
        print(withCode)
    }

    private func writing(_ pool: DatabasePool, _ notes: [Note], _ table: String) async throws {
        // begin
        try await pool.migrate([
            Migration("notes") { database in
                try database.createTable(
                    "notes",
                    columns: [
                        ColumnDefinition("id", .integer, .primaryKey), ColumnDefinition("text", .text, .notNull),
                        ColumnDefinition("due", .text), ColumnDefinition("done", .text),
                    ]
                )
                try database.createIndex("notes_due", on: "notes", columns: ["due"])
            },
            Migration("tags") { database in
                try database.createTable(
                    "tags",
                    columns: [
                        ColumnDefinition("note", .integer, .references("notes", column: "id", onDelete: .cascade)),
                        ColumnDefinition("tag", .text),
                    ],
                    constraints: [.primaryKey("note", "tag")]
                )
                try database.addColumn(ColumnDefinition("pinned", .boolean, .notNull, .default(false)), to: "notes")
                try database.renameColumn("done", of: "notes", to: "finished")
            },
        ])
        let id = try await pool.write { database in  // a transaction; it rolls back where the block throws
            try database.insert(into: "notes", ["text": "buy stamps", "due": Date()])
        }
        try await pool.write { database in
            try database.update("notes", set: ["due": nil], where: Column("id") == id)
            try database.updateAll(TableName(table), set: ["pinned": false])  // a name in a variable
            print(database.changes, database.lastInsertRowID)
            try database.upsert(into: "notes", ["id": 7, "text": "seven"], onConflict: "id")
            try database.executeUpdate("UPDATE notes SET text = ? WHERE id = ?", "eight", 8)
            let insert: SQL = "INSERT INTO notes (text, due) VALUES (?, ?)"
            try database.executeUpdate(insert, forEach: notes) { ($0.text, $0.due) }
            try database.delete(from: "notes", where: "length(text) > \(1000)")
            try database.inSavePoint { try $0.deleteAll(from: "tags") }
        }
        try await pool.inTransaction { database, rollback in
            try database.deleteAll(from: "notes")
            rollback = true
        }
        try await pool.inDatabase { try $0.executeStatements("PRAGMA optimize") }  // without a transaction
        // end
    }

    private func records(_ pool: DatabasePool) async throws {
        // begin
        try await pool.write { database in
            var note = Note(text: "call Bob")
            try note.insert(database)
            try note.updateChanges(database) { $0.due = Date() }
            note.text = "call Bob back"
            try note.update(database)  // DatabaseError.notFound where the row is gone
            try note.save(database)  // updates or inserts
            try note.upsert(database, onConflict: "id")
            let found = try Note.find(database, key: note.id)  // fetchOne gives nil where there is none
            let open = try Note.fetchAll(
                database,
                where: Column("due") != nil,
                orderedBy: [.descending("due")],
                limit: 10
            )
            print(found, open, try Note.fetchCount(database), try Note.exists(database, key: 7))
            try note.delete(database)
            try Note.deleteOne(database, key: 7)
            try Note.deleteAll(database, where: Column("id").isIn([8, 9]))
        }
        // end
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func rowsAreWritten() async throws {
        let directory = try TemporaryDirectory()
        let pool = try await DatabasePool(path: directory.file("page.db"), key: .random())
        try await writing(pool, [Note(text: "one")], "notes")
        try await records(pool)
        #expect(try await pool.read { try Note.fetchAll($0) }.map(\.text) == ["buy stamps"])
        try await pool.close()
    }

    // begin
    enum Kind: String, Codable, ColumnEncodable, ColumnDecodable { case home, work }  // also a value by itself
    // end

    private func reading(_ pool: DatabasePool, _ word: String?, _ column: String) async throws {
        // begin
        let some = try await pool.read { database in
            try database.fetchAll(Note.self, "SELECT * FROM notes WHERE id IN (\(list: [1, 7]))")
        }
        let due = try await pool.read { database in
            try database.select(
                from: "notes",
                where: Column("due") < Date() && word.map { Column("text").like($0) } && !Column("id").isIn([3, 4]),
                orderedBy: [.ascending("due")],
                limit: 10
            ).fetchAll(Note.self)
        }
        let late = try await pool.read { try $0.count(in: "notes", where: Column("finished") > Column("due")) }
        let pairs = try await pool.read { database in
            try database.select(["id", "text"], from: "notes").fetchAll(Row.self)
                .map { row -> (Int64, String) in (try row["id"], try row["text"]) }
        }
        let sum = try await pool.read { try $0.int(forQuery: "SELECT sum(\(identifier: column)) FROM notes") }
        try await pool.read { database in
            let rows = try database.executeQuery("SELECT id, text FROM notes")
            while try rows.next() {  // or: let note = try rows.next(as: Note.self)
                let id: Int64 = try rows["id"]
                print(id, try rows.string(forColumn: "text") ?? "")
            }
        }
        // Now, and after commits that change the tables read: the newest value arrives, some between may not, and it may be the same.
        for try await count in pool.observe({ try $0.count(in: "notes") }) { print(count) }
        // end
        print(some, due, late, pairs, sum as Any)
    }

    private func moreThanRows(_ pool: DatabasePool, _ text: String) async throws {
        // begin
        try await pool.write { database in
            try database.createFullTextIndex("notes_text", on: "notes", columns: ["text"])
            guard let pattern = FTS5Pattern(matchingAllTokensIn: text) else { return }
            print(try database.fetchAll(Int64.self, "SELECT rowid FROM notes_text WHERE notes_text MATCH \(pattern)"))
        }
        // Each connection of a pool needs its own.
        let configuration = Configuration {
            $0.prepareDatabase = { database in
                try database.makeFunction(named: "half", arguments: 1) { arguments in
                    arguments[0].doubleValue.map { $0 / 2 }
                }
            }
        }
        // end
        print(configuration)
    }

    private func care(_ pool: DatabasePool, _ key: DatabaseKey) async throws {
        // begin
        let problems = try await pool.integrityCheck()  // [] if sound; throws KeyError.damaged for pages
        try await pool.backup(to: "copy.db", key: .passphrase("the copy's own passphrase"))
        try await pool.inDatabase { try $0.attach("old.db", as: "old", key: key) }  // the writer alone has it
        try await pool.checkpoint(.truncate)
        try await pool.vacuum()
        try await pool.rekey(.passphrase("a new passphrase"))  // without a keyring
        try await pool.suspend()  // no lock and no open file; blocks throw DatabaseError.aborted
        pool.resume()
        try await pool.close()
        // end
        print(problems)
    }

    private func backups(_ memory: Database, _ saved: Database, _ empty: Database, _ unlocked: UnlockedKeyring) throws {
        let key = try DatabaseKey.random()
        // begin
        try memory.backup(to: "saved.db", key: key)
        try saved.backup(to: empty, decrypting: true)  // into a Database(path: nil)
        let repository = BackupRepository("vault.backups")
        try DatabaseFile(path: "vault.db").backUp(to: repository, keyring: unlocked)  // or key: key
        for generation in try repository.generations() { print(generation.number, generation.time) }
        try repository.restoreKeyring(to: Keyring(besideDatabase: "restored.db"))  // the one that was stored
        let restored = DatabaseFile(path: "restored.db")
        try restored.restore(from: repository, .number(1))  // .newest, .at(date)
        print(try restored.adopt(unlocked))  // where the key was rotated since (KeyringError.oldDatabase)
        // end
    }

    private func errors(_ path: String) throws {
        // begin
        do {
            let queue = try DatabaseQueue(path: path, key: .passphrase("wrong"))
            try queue.write { try $0.insert(into: "notes", ["text": nil]) }
        } catch KeyError.wrongKey {
            print("ask again")
        } catch DatabaseError.constraintNotNull {
            print("a note has a text")
        } catch DatabaseError.busy, DatabaseError.misuse {
            print("another program writes, or the queue is closed")
        } catch KeyringError.lost, KeyError.keyMissing {
            print("the keyring is gone, or there is no key")
        } catch let error as MigrationError {
            print(error.step ?? "", error.cause ?? error)  // what its block threw
        } catch let error as DatabaseError {
            print(error.code, error.code.primary, error.message, error.sql ?? "")
        } catch let error as KeyError where error.code == .damaged {
            print(error, error.path)
        }
        // end
    }
}
