import CipherDB
import Foundation
import TestSupport
import Testing

/// Values as users have them: single ones, dates, identifiers, enumerations, rows as dictionaries.
@Suite struct ValueTests {
    @Test func utf16DatabaseReadsAsUTF8() throws {
        let database = Database(path: nil)
        try database.open()
        try database.executeStatements("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a TEXT)")
        // Longer than what the engine keeps in place.
        let text = String(repeating: "grün 🔑 ", count: 100)
        try database.executeUpdate("INSERT INTO t VALUES (?)", text)
        let rows = try database.executeQuery("SELECT a, a, a FROM t")
        #expect(try rows.next())
        #expect(try rows[0] as Data == Data(text.utf8))
        #expect(try rows.withBytes(forColumnIndex: 1) { Array($0) } == Array(text.utf8))
        #expect(try rows[2] as String == text)
        rows.close()
        try database.makeFunction(named: "length_of", arguments: 1) { values in
            if case .text(let text) = values[0] { text.utf8.count } else { nil }
        }
        #expect(try database.int(forQuery: "SELECT length_of(a) FROM t") == text.utf8.count)
    }

    enum Kind: String, ColumnEncodable, ColumnDecodable { case note, task }
    enum Level: Int, ColumnEncodable, ColumnDecodable { case low = 1, high = 9 }

    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
    }

    @Test func singleValueIsNilWithoutRow() throws {
        #expect(try database.int(forQuery: "SELECT ? + 1", 4) == 5)
        #expect(try database.double(forQuery: "SELECT 1.5") == 1.5)
        #expect(try database.bool(forQuery: "SELECT 2") == true)
        #expect(try database.string(forQuery: "SELECT 'a' || ?", "b") == "ab")
        #expect(try database.data(forQuery: "SELECT x'0102'") == Data([1, 2]))
        #expect(try database.date(forQuery: "SELECT 10") == Date(timeIntervalSince1970: 10))
        #expect(try database.int(forQuery: "SELECT 0") == 0)
        #expect(try database.int(forQuery: "SELECT NULL") == nil)
        #expect(try database.int(forQuery: "SELECT 1 WHERE 0") == nil)
        #expect(throws: DatabaseError.self) { try database.int(forQuery: "SELECT nothing") }
        #expect(throws: DatabaseError.self) { try database.int(forQuery: "SELECT 'text'") }
        let typed: [UInt8?] = try [
            database.value(forQuery: "SELECT 7"), database.value(forQuery: "SELECT ?", values: [nil as Int?]),
        ]
        #expect(typed == [7, nil])
        #expect(!database.hasOpenResultSets)
    }

    @Test func identifiersAndEnumerationsComeBackAsTheyWere() throws {
        let id = UUID()
        let rows = try database.executeQuery("SELECT ?, ?, ?, ?", id, Kind.task, Level.high, nil as Kind?)
        #expect(try rows.next())
        let found: (UUID, Kind, Level, Kind?) = try (rows[0], rows[1], rows[2], rows[3])
        #expect(found == (id, .task, .high, nil))
        #expect(try rows.string(forColumnIndex: 0) == id.uuidString && rows.int(forColumnIndex: 2) == 9)
        let bytes = withUnsafeBytes(of: id.uuid) { Data($0) }
        #expect(try database.value(forQuery: "SELECT ?", values: [bytes]) == id)
        for wrong: any ColumnEncodable in ["no id", Data([1, 2]), 5] {
            #expect(throws: DatabaseError.self) {
                let _: UUID? = try database.value(forQuery: "SELECT ?", values: [wrong])
            }
        }
        #expect(throws: DatabaseError.self) { let _: Kind? = try database.value(forQuery: "SELECT 'other'") }
        #expect(throws: DatabaseError.self) { let _: Level? = try database.value(forQuery: "SELECT 2") }
    }

    @Test func nestedOptionalsAreNullAtAnyDepth() throws {
        let none: Int?? = .some(nil)
        let some: Int?? = 5
        let rows = try database.executeQuery("SELECT ?, ?", none, some)
        #expect(try rows.next())
        let found: (Int??, Int??) = try (rows[0], rows[1])
        #expect((found.0 ?? nil) == nil && found.1 == .some(5))
        #expect(try rows.columnIndexIsNull(0))
    }

    @Test(arguments: [
        (DateFormat.sqlite, "2009-02-13 23:31:30.500"), (DateFormat.iso8601, "2009-02-13T23:31:30.500Z"),
    ])
    func datesAreStoredInFormatThatIsSet(format: DateFormat, text: String) throws {
        let date = Date(timeIntervalSince1970: 1_234_567_890.5)
        database.dateFormat = .secondsSince1970
        #expect(try database.double(forQuery: "SELECT ?", date) == 1_234_567_890.5)
        database.dateFormat = format
        #expect(try database.string(forQuery: "SELECT ?", date) == text)
        #expect(try database.date(forQuery: "SELECT ?", date) == date)
        let whole = try #require(try database.date(forQuery: "SELECT ?", text.replacing(".500", with: "")))
        #expect(whole == Date(timeIntervalSince1970: 1_234_567_890))
        // What was stored before the format was set still reads.
        #expect(try database.date(forQuery: "SELECT 10") == Date(timeIntervalSince1970: 10))
        #expect(throws: DatabaseError.self) { try database.date(forQuery: "SELECT 'yesterday'") }
        #expect(try database.date(forQuery: "SELECT ?", nil as Date?) == nil)
        // Text reads in any format.
        database.dateFormat = .secondsSince1970
        #expect(try database.date(forQuery: "SELECT ?", text) == date)
    }

    @Test(arguments: [DateFormat.sqlite, .iso8601]) func dateComesBackEqual(format: DateFormat) throws {
        database.dateFormat = format
        var dates = [
            Date.now, .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0),
            Date(timeIntervalSince1970: 0),
            Date(timeIntervalSinceReferenceDate: -0.1), Date(timeIntervalSinceReferenceDate: 0.1),
            Date(timeIntervalSince1970: -62_167_219_200.25), Date(timeIntervalSince1970: 253_402_300_799.999_9),
            Date(timeIntervalSince1970: 9e12), Date(timeIntervalSince1970: -9e12),
            Date(timeIntervalSince1970: 951_782_400),
        ]
        var random = SplitMix(24)
        dates += (0..<3000).map { _ in Date(timeIntervalSince1970: .random(in: -1e10...1e10, using: &random)) }
        dates += (0..<3000).map { _ in Date(timeIntervalSinceReferenceDate: .random(in: -1e3...1e3, using: &random)) }
        let statement = try database.prepare("SELECT ? AS date")
        let found = try dates.map { try statement.executeQuery($0).fetchOne(Date.self) }
        #expect(found == dates)
    }

    @Test func textOfDatesSortsAsDatesDo() throws {
        var random = SplitMix(25)
        try database.executeUpdate("CREATE TABLE dates (at)")
        for _ in 0..<2000 {
            let date = Date(timeIntervalSince1970: .random(in: 1e9...1e9 + 5, using: &random))
            try database.executeUpdate("INSERT INTO dates VALUES (\(date))")
        }
        let dates = try database.fetchAll(Date.self, "SELECT at FROM dates ORDER BY at")
        #expect(dates.count == 2000 && dates == dates.sorted())
    }

    @Test(arguments: [
        ("2009-02-13", 1_234_483_200.0), ("2009-02-13 23:31", 1_234_567_860), ("2009-02-13T23:31:30Z", 1_234_567_890),
        ("2009-02-14T01:01:30.5+01:30", 1_234_567_890.5), ("2009-02-13 21:31:30-02:00", 1_234_567_890),
        ("+12009-02-13 00:00:00.000", 316_804_003_200), ("1600-02-29 00:00:00.125", -11_670_998_399.875),
        ("2009-02-13T23:31:30+0000", 1_234_567_890), ("2009-02-14T01:01:30+0130", 1_234_567_890),
        ("2009-02-14T00:31:30+01", 1_234_567_890), ("2009-02-13t23:31:30z", 1_234_567_890),
        ("2009-02-14 00:31:30 +01:00", 1_234_567_890), ("2009-02-13 23:31:30 Z", 1_234_567_890),
        ("2009-02-13  23:31:30  ", 1_234_567_890), ("2009-02-13 ", 1_234_483_200),
        ("2009-02-13 24:00:00", 1_234_569_600), ("2009-02-13T24:00Z", 1_234_569_600),
        ("2009-02-13T23:31:30,5Z", 1_234_567_890.5), ("20090213T233130Z", 1_234_567_890),
        ("20090213T233130.5+0000", 1_234_567_890.5), ("20090213T2331", 1_234_567_860), ("20090213", 1_234_483_200),
    ])
    func textOfOtherProgramsIsDate(text: String, seconds: Double) throws {
        #expect(try database.date(forQuery: "SELECT ?", text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", " ", "2009", "2009-2-13", "2009-02-30", "1900-02-29", "2009-13-01", "2009-02-13 25:00", "2009-02-13 23:60",
        "12009-02-13", "2009-0213", "200902-13", "+20090213", "2009021", "2009-02-13 23", "2009-02-13 23:3130",
        "23:31:30",
        "2009-02-13 23:31:60", "2009-02-13 23:31:30.", "2009-02-13 23:31:30x", "2009-02-13T23:31:30+1",
        "2009-02-13T23:31:30+01:", "2009-02-13T23:31:30+25", "2009-02-13T23:31:30+01 Z", "2009-02-13x",
        "2009-02-13Z", "secretvalue",
    ])
    func textThatIsNoDateIsError(text: String) {
        #expect { try database.date(forQuery: "SELECT ? AS d", text) } throws: {
            guard let error = $0 as? DatabaseError else { return false }
            return error.message.hasPrefix("column 0 (d) holds text that is no date")
                && !error.message.contains("secret")
        }
    }

    /// SQLite takes days that a month does not have, and counts milliseconds.
    @Test func textsAreReadAsSQLiteReadsThem() throws {
        var random = SplitMix(48)
        let ends = ["", " ", "Z", "z", " Z", "+01:00", "-11:30", " +00:30", "  -01:00 ", "+0100", "x"]
        let times = [
            "", " 07:08", "T07:08:09", "  23:59:59.25", " 24:00", "T24:00:00", " 07:08:09.125", " 7:08", "T", "T07",
        ]
        let select = try database.prepare(
            "SELECT CAST(strftime('%s', ?1) AS INTEGER), CAST(substr(strftime('%f', ?1), 3) AS REAL), ?1"
        )
        var count = 0
        for _ in 0..<3000 {
            func number(_ range: ClosedRange<Int>, _ digits: Int) -> String {
                let text = String(Int.random(in: range, using: &random))
                return String(repeating: "0", count: digits - text.count) + text
            }
            let day = "\(number(1...9998, 4))-\(number(1...12, 2))-\(number(1...28, 2))"
            let text = day + times.randomElement(using: &random)! + ends.randomElement(using: &random)!
            let row = try select.executeQuery(text)
            #expect(try row.next())
            guard let seconds = try row.int(forColumnIndex: 0), let part = try row.double(forColumnIndex: 1) else {
                row.close()
                continue
            }
            count += 1
            let date = try row.date(forColumnIndex: 2)
            #expect(date == Date(timeIntervalSince1970: Double(seconds) + part), "\(text)")
            row.close()
        }
        #expect(count > 1000)
    }

    @Test(arguments: [
        ("SELECT 300 AS a", "integer out of UInt8's range"), ("SELECT -1 AS a", "integer out of UInt8's range"),
        ("SELECT 1e300 AS a", "real out of UInt8's range"), ("SELECT 9e999 AS a", "real out of UInt8's range"),
        ("SELECT 1.5 AS a", "real with a fraction, not UInt8"), ("SELECT '5' AS a", "text, not UInt8"),
    ])
    func numberThatDoesNotFitIsNamedSo(sql: String, message: String) {
        #expect { try database.fetchOne(UInt8.self, SQL(unsafe: sql)) } throws: {
            ($0 as? DatabaseError)?.message.hasSuffix("column 0 (a) holds \(message)") ?? false
        }
    }

    @Test func errorSaysWhatTextIsNot() {
        func message<Value: ColumnDecodable>(_ type: Value.Type, _ value: any ColumnEncodable) -> String {
            do {
                _ = try database.value(forQuery: "SELECT ? AS a", values: [value]) as Value?
                return ""
            } catch {
                return (error as? DatabaseError)?.message ?? ""
            }
        }
        #expect(message(UUID.self, "secretvalue") == "column 0 (a) holds text that is no UUID")
        #expect(message(UUID.self, Data([1, 2])) == "column 0 (a) holds a blob of 2 bytes, not the 16 of a UUID")
        #expect(message(UUID.self, 5) == "column 0 (a) holds integer, not UUID")
        #expect(message(Decimal.self, "secretvalue") == "column 0 (a) holds text that is no decimal number")
        #expect(message(Date.self, Data()) == "column 0 (a) holds blob, not Date")
        #expect(message(Int.self, 1e300) == "column 0 (a) holds real out of Int's range")
        #expect(message(Int64.self, 0.5) == "column 0 (a) holds real with a fraction, not Int64")
        let invalid: SQL = "SELECT CAST(x'ff' AS TEXT) AS a"
        #expect { try database.fetchOne(String.self, invalid) } throws: {
            "\($0)".contains("holds text that is not UTF-8")
        }
    }

    @Test func invalidDateIsError() {
        for seconds in [Double.infinity, -.infinity, .nan, 1e16] {
            #expect(throws: DatabaseError.self) {
                try database.date(forQuery: "SELECT ?", Date(timeIntervalSinceReferenceDate: seconds))
            }
        }
    }

    @Test func urlsAndDecimalsComeBackEqual() throws {
        for text in ["https://example.com/a?b=c#d", "relative/path", "mailto:a@example.com"] {
            let url = try #require(URL(string: text))
            #expect(try database.value(forQuery: "SELECT ?", values: [url]) == url)
        }
        for text in ["0", "-12345678901234567890.123456789", "1e30", "0.1"] {
            let number = try #require(Decimal(string: text))
            #expect(try database.value(forQuery: "SELECT ?", values: [number]) == number)
        }
        #expect(try database.value(forQuery: "SELECT 1.5") == Decimal(string: "1.5"))
        #expect(try database.value(forQuery: "SELECT ?", Decimal.nan) as Decimal? == nil)
        #expect(throws: DatabaseError.self) { try database.value(forQuery: "SELECT '1.5 or so'") as Decimal? }
        #expect(throws: DatabaseError.self) { try database.value(forQuery: "SELECT ''") as Decimal? }
    }

    @Test func dateFormatMatchesSQLiteFunctions() throws {
        database.dateFormat = .sqlite
        let date = Date(timeIntervalSince1970: 86400.25)
        #expect(
            try database.string(forQuery: "SELECT strftime('%Y-%m-%d %H:%M:%f', ?)", date) == "1970-01-02 00:00:00.250"
        )
        #expect(
            try database.date(forQuery: "SELECT datetime(86400, 'unixepoch')") == Date(timeIntervalSince1970: 86400)
        )
    }

    @Test func rowDictionaryKeepsNames() throws {
        let rows = try database.executeQuery("SELECT 1 AS One, NULL AS none, 'x' AS text, 2 AS One")
        #expect(throws: DatabaseError.self) { try rows.resultDictionary }
        #expect(try rows.next())
        #expect(try rows.resultDictionary == ["One": .integer(1), "none": .null, "text": .text("x")])
        #expect(try rows.resultDictionary["one"] == nil)
        #expect(try rows.columnIndex(forName: "oNe") == 0)
        #expect(try rows.type(forColumn: "none") == .null && rows.type(forColumnIndex: 2) == .text)
    }

    @Test func bytesAreBorrowedWithoutCopy() throws {
        let rows = try database.executeQuery(
            "SELECT x'010203' AS blob, 'héllo' AS text, NULL AS none, zeroblob(0), 5 AS n"
        )
        #expect(try rows.next())
        #expect(try rows.withBytes(forColumn: "blob") { Array($0) } == [1, 2, 3])
        #expect(try rows.withBytes(forColumn: "text") { $0.count } == 6)
        #expect(try rows.withBytes(forColumn: "none") { $0.isEmpty })
        #expect(try rows.withBytes(forColumnIndex: 3) { $0.isEmpty })
        let first = try rows.withBytes(forColumn: "blob") { $0.baseAddress }
        let second = try rows.withBytes(forColumn: "blob") { $0.baseAddress }
        #expect(first == second, "SQLite's own memory")
        #expect(throws: DatabaseError.self) { try rows.withBytes(forColumn: "n") { $0.count } }
        struct Stop: Error {}
        #expect(throws: Stop.self) { try rows.withBytes(forColumn: "blob") { _ in throw Stop() } }
    }

    @Test func rowsReachBlockWithTypes() throws {
        var rows: [[String: DatabaseValue]] = []
        try database.executeStatements(
            """
            CREATE TABLE t (a, b); -- a comment; with a semicolon
            INSERT INTO t VALUES (1, x'ff'), (NULL, 'text');
            SELECT a, b FROM t;
            DROP TABLE t;
            SELECT 2.5 AS c
            """
        ) { rows.append($0) }
        #expect(
            rows == [
                ["a": .integer(1), "b": .blob(Data([0xff]))], ["a": .null, "b": .text("text")], ["c": .real(2.5)],
            ]
        )
        #expect(try !database.tableExists("t"))
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.executeStatements("SELECT 1; CREATE TABLE late (a)") { _ in throw Stop() }
        }
        #expect(try !database.tableExists("late"))
        #expect(!database.hasOpenResultSets)
    }
}
