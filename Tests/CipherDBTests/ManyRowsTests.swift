import Foundation
import TestSupport
import Testing

@testable import CipherDB

@Suite struct ManyRowsTests {
    struct Row: Codable, RowDecodable, Equatable {
        var id: Int
        var text: String?
        var data: Data
    }

    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, data BLOB)")
    }

    private let insert: SQL = "INSERT INTO t VALUES (?, ?, ?)"

    private func rows(_ count: Int) -> [Row] {
        (0..<count).map { id in
            // Some are longer than the buffer of the statement.
            Row(
                id: id,
                text: id % 7 == 0 ? nil : "text \(id)",
                data: Data(repeating: UInt8(id % 251), count: id % 97 == 0 ? 2000 : id % 40)
            )
        }
    }

    private var stored: [Row] {
        get throws { try database.fetchAll(Row.self, "SELECT id, text, data FROM t ORDER BY id") }
    }

    /// Without a chunk, with whole chunks, and with a rest.
    @Test(arguments: [0, 1, 511, 512, 513, 1300])
    func everyRowIsStored(count: Int) throws {
        let rows = rows(count)
        try database.executeUpdate(insert, forEach: rows) { ($0.id, $0.text, $0.data) }
        #expect(try stored == rows)
        #expect(database.lastInsertRowID == max(0, count - 1))
    }

    @Test func sequencesOfUnknownLengthAreStored() throws {
        let rows = rows(600)
        var next = rows.makeIterator()
        try database.executeUpdate(insert, forEach: AnySequence(AnyIterator { next.next() })) {
            ($0.id, $0.text, $0.data)
        }
        #expect(try stored == rows)
    }

    @Test func setsOfValuesAreStored() throws {
        let rows = rows(40)
        let insert: SQL = "INSERT INTO t VALUES (:id, :text, :data)"
        try database.executeUpdate(insert, forEach: rows) { ["id": $0.id, "text": $0.text, "data": $0.data] }
        #expect(try stored == rows)
    }

    @Test func listIsValuesOfRow() throws {
        let rows = rows(3)
        try database.executeUpdate(insert, forEach: rows) { [$0.id, $0.text, $0.data] }
        #expect(try stored == rows)
        let statement = try database.prepare(insert)
        try statement.executeUpdate(forEach: 3..<5) { id in
            let text = "row \(id)"
            return [id, text, nil]
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE id > 2 AND data IS NULL") == 2)
        #expect(throws: DatabaseError.self) { try statement.executeUpdate(forEach: 5..<6) { [$0, "x"] } }
    }

    @Test(arguments: [3, 700, 1299])
    func failureUndoesAllRows(place: Int) throws {
        var rows = rows(1300)
        rows[place].id = 1
        #expect(
            performing: {
                try database.executeUpdate(insert, forEach: rows) { ($0.id, $0.text, $0.data) }
            },
            throws: { ($0 as? DatabaseError)?.code.primary == .constraint }
        )
        #expect(try stored.isEmpty && !database.isInTransaction)
    }

    @Test func failureIsUndoneWithItsTransaction() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.inTransaction { database in
                try database.executeUpdate("INSERT INTO t (id) VALUES (5000)")
                try database.executeUpdate(insert, forEach: rows(1300)) { row in
                    if row.id == 900 { throw Stop() }
                    return (row.id, row.text, row.data)
                }
            }
        }
        #expect(try stored.isEmpty)
    }

    @Test func wrongCountOfValuesRunsNothing() throws {
        for count in [1, 600] {
            #expect(
                performing: { try database.executeUpdate(insert, forEach: rows(count)) { ($0.id, $0.text) } },
                throws: {
                    ($0 as? DatabaseError)?.message == "the statement has 3 parameters, and 2 values were given"
                }
            )
        }
        #expect(try stored.isEmpty)
    }

    @Test func closureCannotRunSameStatement() throws {
        let statement = try database.prepare("INSERT INTO t (id) VALUES (?)")
        #expect(
            performing: {
                try statement.executeUpdate(forEach: 0..<3) { id in
                    if id == 1 { try statement.executeUpdate(100) }
                    return id
                }
            },
            throws: { ($0 as? DatabaseError)?.code == .misuse }
        )
        #expect(try stored.isEmpty)
    }

    @Test func statementKeepsNoValues() throws {
        try database.executeStatements("CREATE TABLE secrets (a)")
        let statement = try database.prepare("INSERT INTO secrets VALUES (?)")
        try statement.executeUpdate(forEach: ["a secret", "another"]) { $0 }
        _ = try statement.prepared.step()
        #expect(try database.first("SELECT a FROM secrets ORDER BY rowid DESC LIMIT 1") == DatabaseValue.null)
    }

    @Test func triggersSeeEachRowInOrder() throws {
        try database.executeStatements(
            """
            CREATE TABLE log (id, before);
            CREATE TRIGGER each AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id, (SELECT count(*) FROM t)); END;
            """
        )
        try database.executeUpdate("INSERT INTO t (id) VALUES (?)", forEach: 0..<1100) { $0 }
        #expect(try database.int(forQuery: "SELECT count(*) FROM log WHERE rowid = id + 1 AND before = id + 1") == 1100)
    }

    @Test func rowsThatExistAreIgnored() throws {
        try database.executeUpdate("INSERT INTO t (id) VALUES (?)", forEach: 0..<600) { $0 * 2 }
        try database.executeUpdate("INSERT OR IGNORE INTO t (id) VALUES (?)", forEach: 0..<1200) { $0 }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 1200)
    }

    /// Binds nothing at all.
    struct Nothing: ColumnEncodable {
        var databaseValue: DatabaseValue { .null }
        func bind(to parameter: Parameter) {}
    }

    @Test func unboundParameterIsNull() throws {
        try database.executeUpdate("INSERT INTO t VALUES (?, ?, ?)", 0, "a secret", Data([1, 2, 3]))
        try database.executeUpdate("INSERT INTO t VALUES (?, 'x', ?)", forEach: 1..<4) { ($0, Nothing()) }
        try database.executeUpdate(
            "INSERT INTO t VALUES (?, 'x', ?)",
            forEach: [StatementValues([5, "text"]), [6, Nothing()]]
        ) { $0 }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE id > 0 AND data IS NULL") == 4)
    }

    @Test func closureSeesRowsBefore() throws {
        try database.executeUpdate("INSERT INTO t (id, text) VALUES (?, ?)", forEach: 1..<900) {
            ($0, try database.int(forQuery: "SELECT count(*) FROM t"))
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE text = id - 1") == 899)
    }
}
