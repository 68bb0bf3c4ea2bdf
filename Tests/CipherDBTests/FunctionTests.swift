import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@Suite struct FunctionTests {
    struct Stop: Error, Equatable { let number: Int }

    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (k, a); INSERT INTO t VALUES ('x', 1), ('x', 2), ('y', 40)")
    }

    @Test func functionTakesAndReturnsEveryKind() throws {
        try database.makeFunction(named: "same", arguments: 1, isDeterministic: true) { $0[0] }
        let values: [DatabaseValue] = [
            .null, .integer(.min), .real(-0.5), .text("a\0b"), .text(""), .blob(Data()), .blob(Data([0, 1])),
        ]
        for value in values {
            #expect(
                try database.value(forQuery: "SELECT ifnull(same(?), 'none')", values: [value])
                    == (value.isNull ? .text("none") : value)
            )
        }
        try database.executeStatements("CREATE INDEX i ON t (a)")
        #expect(try database.int(forQuery: "SELECT sum(same(a)) FROM t") == 43)
    }

    @Test func argumentCountIsChecked() throws {
        try database.makeFunction(named: "two", arguments: 2) { ($0[0].int64Value ?? 0) + ($0[1].int64Value ?? 0) }
        try database.makeFunction(named: "many") { $0.count }
        #expect(try database.int(forQuery: "SELECT two(3, 4)") == 7)
        #expect(try database.int(forQuery: "SELECT many() + many(1, 2, 3)") == 3)
        #expect { _ = try database.int(forQuery: "SELECT two(1)") } throws: { "\($0)".contains("number of arguments") }
        for count in [-2, 128] {
            #expect(throws: DatabaseError.self) { try database.makeFunction(named: "f", arguments: count) { _ in nil } }
        }
        let tooLong = String(repeating: "n", count: 256)
        #expect(throws: DatabaseError.self) { try database.makeFunction(named: tooLong) { _ in nil } }
    }

    @Test func errorOfFunctionIsRethrown() throws {
        try database.makeFunction(named: "fail", arguments: 1) { throw Stop(number: Int($0[0].int64Value ?? -1)) }
        #expect(throws: Stop(number: 5)) { _ = try database.int(forQuery: "SELECT fail(?)", 5) }
        #expect(throws: Stop(number: 1)) { try database.executeStatements("SELECT fail(1)") }
        #expect(throws: Stop(number: 2)) { try database.executeUpdate("UPDATE t SET a = fail(a) WHERE a = 2") }
        #expect(try database.int(forQuery: "SELECT sum(a) FROM t") == 43)
        try database.makeFunction(named: "coded") { _ in
            throw DatabaseError(code: ResultCode(rawValue: 42), message: "foo")
        }
        #expect { _ = try database.int(forQuery: "SELECT coded()") } throws: {
            ($0 as? DatabaseError) == DatabaseError(code: ResultCode(rawValue: 42), message: "foo")
        }
        // The next statement's own error is its own.
        #expect(throws: DatabaseError.self) { try database.executeUpdate("INSERT INTO nothing VALUES (1)") }
    }

    @Test func failingRowIsNotTheEnd() throws {
        try database.makeFunction(named: "upToTwo", arguments: 1) { values in
            guard let value = values[0].int64Value, value <= 2 else { throw Stop(number: 3) }
            return value
        }
        let rows = try database.executeQuery("SELECT upToTwo(a) FROM t ORDER BY rowid")
        #expect(try rows.next() && rows.next())
        #expect(throws: Stop(number: 3)) { try rows.next() }
        #expect(!database.hasOpenResultSets)
    }

    @Test func aggregateStartsPerGroup() throws {
        try database.makeAggregate(
            named: "joined",
            arguments: 1,
            initial: { [String]() },
            step: { state, values in state.append("\(values[0].int64Value ?? 0)") },
            result: { $0.sorted().joined(separator: "+") }
        )
        let rows = try database.executeQuery("SELECT k, joined(a) FROM t GROUP BY k ORDER BY k")
        var found: [String?] = []
        while try rows.next() { found.append(try rows.string(forColumnIndex: 1)) }
        #expect(found == ["1+2", "40"])
        #expect(try database.string(forQuery: "SELECT joined(a) FROM t WHERE 0") == "", "also without a row")
    }

    @Test func failingAggregateReleasesState() throws {
        final class Guarded: Sendable {
            let alive: Counter
            init(_ alive: Counter) {
                self.alive = alive
                alive.add()
            }
            deinit { alive.add(-1) }
        }
        let alive = Counter()
        try database.makeAggregate(
            named: "failing",
            initial: { Guarded(alive) },
            step: { _, values in if values[0].int64Value == 2 { throw Stop(number: 2) } },
            result: { _ in 1 }
        )
        #expect(throws: Stop(number: 2)) { _ = try database.int(forQuery: "SELECT failing(a) FROM t") }
        #expect(try database.int(forQuery: "SELECT failing(a) FROM t WHERE a <> 2") == 1)
        #expect(alive.value == 0)
        try database.makeAggregate(
            named: "late",
            initial: { Guarded(alive) },
            step: { _, _ in },
            result: { _ in throw Stop(number: 7) }
        )
        #expect(throws: Stop(number: 7)) { _ = try database.int(forQuery: "SELECT late(a) FROM t") }
        #expect(alive.value == 0)
    }

    @Test func replacedFunctionIsReleased() throws {
        final class Marker: Sendable {}
        weak var first: Marker?
        weak var second: Marker?
        do {
            let marker = Marker()
            first = marker
            try database.makeFunction(named: "f", arguments: 0) { _ in withExtendedLifetime(marker) { 1 } }
        }
        #expect(first != nil)
        #expect(try database.int(forQuery: "SELECT f()") == 1)
        do {
            let marker = Marker()
            second = marker
            try database.makeFunction(named: "f", arguments: 0) { _ in withExtendedLifetime(marker) { 2 } }
        }
        #expect(first == nil && second != nil)
        #expect(try database.int(forQuery: "SELECT f()") == 2)
        try database.removeFunction(named: "f", arguments: 0)
        #expect(second == nil)
        #expect(throws: DatabaseError.self) { _ = try database.int(forQuery: "SELECT f()") }
    }

    @Test func collationOrdersTexts() throws {
        try database.makeCollation(named: "byLength") { left, right in
            left.count < right.count ? .orderedAscending : left.count > right.count ? .orderedDescending : .orderedSame
        }
        try database.executeStatements(
            "CREATE TABLE w (a TEXT COLLATE byLength); INSERT INTO w VALUES ('ccc'), (''), ('dd'), ('ü')"
        )
        let rows = try database.executeQuery("SELECT a FROM w ORDER BY a")
        var found: [String?] = []
        while try rows.next() { found.append(try rows.string(forColumnIndex: 0)) }
        #expect(found == ["", "ü", "dd", "ccc"])
        #expect(try database.int(forQuery: "SELECT count(*) FROM w WHERE a = 'x'") == 1)
    }

    @Test func functionsSurviveReopeningAndRekey() throws {
        let directory = try TemporaryDirectory()
        let file = Database(path: directory.file("test.db"))
        try file.open(key: .sample("one"))
        try file.makeFunction(named: "seven") { _ in 7 }
        try file.makeCollation(named: "reverse") {
            $0 < $1 ? .orderedDescending : $0 > $1 ? .orderedAscending : .orderedSame
        }
        let commits = Lock(0)
        file.setCommitHook {
            commits.withLock { $0 += 1 }
            return true
        }
        try file.rekey(.sampleKey("two"))
        #expect(try file.int(forQuery: "SELECT seven()") == 7)
        file.close()
        try file.open(key: .sample("two"))
        #expect(try file.int(forQuery: "SELECT seven() WHERE 'a' > 'b' COLLATE reverse") == 7)
        let before = commits.withLock { $0 }
        try file.executeStatements("CREATE TABLE t (a)")
        #expect(commits.withLock { $0 } == before + 1)
    }

    @Test func everyConnectionRunsPrepareDatabase() throws {
        let directory = try TemporaryDirectory()
        let configuration = Configuration {
            $0.prepareDatabase = { try $0.makeFunction(named: "seven") { _ in 7 } }
        }
        let pool = try DatabasePool(path: directory.file("test.db"), key: .sample("k"), configuration: configuration)
        #expect(try pool.read { try $0.int(forQuery: "SELECT seven()") } == 7)
        #expect(try pool.write { try $0.int(forQuery: "SELECT seven()") } == 7)
    }

    @Test(arguments: [0, -1, 100, 101, 100 | 1 << 8] as [Int32])
    func errorWithSuccessCodeStillFails(code: Int32) throws {
        let failure = DatabaseError(code: ResultCode(rawValue: code), message: "failed")
        try database.makeFunction(named: "f", arguments: 1) { _ in throw failure }
        #expect(throws: failure) { try database.executeUpdate("INSERT INTO t (a) SELECT f(a) FROM t") }
        #expect(throws: failure) { _ = try database.int(forQuery: "SELECT f(a) FROM t") }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 3)
        try database.makeAggregate(named: "total_of", arguments: 1, initial: { 0 as Int64 }) { sum, values in
            sum += values[0].int64Value ?? 0
        } result: {
            $0
        }
        #expect(try database.int(forQuery: "SELECT total_of(a) FROM t") == 43)
    }

    @Test func functionNameIsCaseInsensitive() throws {
        let directory = try TemporaryDirectory()
        let database = Database(path: directory.file("a.db"))
        try database.open(key: .sample("k"))
        try database.makeFunction(named: "price", arguments: 0) { _ in "old" }
        try database.makeFunction(named: "PRICE", arguments: 0) { _ in "new" }
        for _ in 0..<5 {
            database.close()
            try database.open(key: .sample("k"))
            #expect(try database.string(forQuery: "SELECT price()") == "new")
        }
        try database.removeFunction(named: "Price", arguments: 0)
        database.close()
        try database.open(key: .sample("k"))
        #expect(throws: DatabaseError.self) { _ = try database.string(forQuery: "SELECT price()") }
    }

    @Test func functionsCanPrecedeKey() throws {
        let directory = try TemporaryDirectory()
        let database = Database(path: directory.file("a.db"))
        try database.open()
        try database.makeFunction(named: "one", arguments: 0) { _ in 1 }
        try database.setKey(.sample("k"))
        #expect(try database.int(forQuery: "SELECT one()") == 1)
    }

    /// A database that its own function may reach: the function runs on the thread that uses the database.
    private final class Reach: @unchecked Sendable {
        var rows: ResultSet?
        var database: Database?
    }

    @Test(arguments: ["next", "close", "closeAll", "closeDatabase", "rekey"])
    func functionMisusingItsStatementGetsError(act: String) throws {
        let directory = try TemporaryDirectory()
        let database = Database(path: directory.file("a.db"))
        try database.open(key: .sample("k"))
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
        let reach = Reach()
        reach.database = database
        try database.makeLocalFunction(named: "turn", arguments: 1, isDeterministic: false) { _ in
            switch act {
            case "next": _ = try reach.rows?.next()
            case "close": reach.rows?.close()
            case "closeAll": reach.database?.closeOpenResultSets()
            case "closeDatabase": reach.database?.close()
            default: try reach.database?.rekey(.sample("other"))
            }
            return nil
        }
        let statement = try database.prepare("SELECT a, turn(a), a FROM t ORDER BY a")
        #expect(throws: (any Error).self) {
            let rows = try statement.executeQuery()
            reach.rows = rows
            while try rows.next() {}
        }
        reach.rows = nil
        reach.database = nil
        database.close()
        try database.open(key: .sample("k"))
        #expect(try database.int(forQuery: "SELECT sum(a) FROM t") == 6)
    }
}
