import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite struct FMDatabaseUpdateTests {
    let db: FMDatabase

    init() {
        db = FMDatabase(path: nil)
        db.logsErrors = false
        db.open()
        db.executeStatements("CREATE TABLE t (a TEXT, b TEXT, c INTEGER, d DOUBLE, e DOUBLE)")
    }

    @Test func malformedStatementReturnsFalse() {
        #expect(!db.executeUpdate("blah blah blah", withArgumentsIn: []) && db.hadError())
    }

    @Test func malformedStatementThrowsCode1() {
        #expect { try db.executeUpdate("blah blah blah", values: nil) } throws: {
            ($0 as NSError).code == 1 && ($0 as NSError).domain == "FMDatabase"
        }
    }

    @Test func valuesOfSeveralTypesAreBoundAtOnce() throws {
        try db.executeUpdate("INSERT INTO t VALUES (?, ?, ?, ?, ?)", values: ["hi'", "again", 7, Date(), 2.2])
        #expect(db.changes == 1 && db.intForQuery("SELECT c FROM t") == 7)
    }

    @Test func trueIsStoredAs1() throws {
        try db.executeUpdate("INSERT INTO t (c) VALUES (?)", values: [true])
        #expect(db.intForQuery("SELECT c FROM t") == 1 && db.boolForQuery("SELECT c FROM t") == true)
        #expect(db.stringForQuery("SELECT typeof(c) FROM t") == "integer")
    }

    @Test func surplusDictionaryNamesAreIgnored() throws {
        let values: [String: Any] = ["a": "1", "b": "2", "c": 3, "d": 4.0, "surplus": "x", "more": NSNull()]
        #expect(db.executeUpdate("INSERT INTO t (a, b, c, d) VALUES (:a, :b, :c, :d)", withParameterDictionary: values))
        let rows = try #require(db.executeQuery("SELECT c FROM t WHERE a = :a", withParameterDictionary: values))
        #expect(rows.next() && rows.int(forColumn: "c") == 3)
        #expect(!db.executeUpdate("INSERT INTO t (a) VALUES (:missing)", withParameterDictionary: values))
    }

    @Test func valuesAreInsertedAndFoundByName() throws {
        #expect(
            db.executeUpdate(
                "INSERT INTO t (a, c, d) VALUES (:name, :count, :ratio)",
                withParameterDictionary: ["name": "Text1", "count": 0, "ratio": 3.125]
            )
        )
        let rows = try #require(
            db.executeQuery("SELECT * FROM t WHERE a = :name", withParameterDictionary: ["name": "Text1"])
        )
        #expect(rows.next() && rows.string(forColumn: "a") == "Text1" && rows.double(forColumn: "d") == 3.125)
        #expect(!rows.next() && !db.hasOpenResultSets)
    }

    @Test func nilIsNullAndNumbersReadAsText() throws {
        let nothing: String? = nil
        try db.executeUpdate("INSERT INTO t (a, c) VALUES (?, ?)", nothing as Any, 5)
        let rows = try db.executeQuery("SELECT a, c FROM t", values: nil)
        #expect(rows.next() && rows.string(forColumn: "a") == nil && rows.string(forColumn: "c") == "5")
    }

    @Test func nilAndNSNullBindAsNull() throws {
        try db.executeUpdate("INSERT INTO t (a, b) VALUES (?, ?)", values: [NSNull(), Optional<Int>.none as Any])
        #expect(db.intForQuery("SELECT count(*) FROM t WHERE a IS NULL AND b IS NULL") == 1)
    }

    @Test func nullDateReadsAsNilNotEpoch() throws {
        let now = Date()
        try db.executeUpdate("INSERT INTO t (d, e) VALUES (?, ?)", values: [NSNull(), 0])
        try db.executeUpdate("INSERT INTO t (d, e) VALUES (?, ?)", values: [NSNull(), now])
        let rows = try db.executeQuery("SELECT d, e FROM t ORDER BY rowid", values: nil)
        #expect(rows.next() && rows.date(forColumn: "d") == nil)
        #expect(rows.date(forColumn: "e") == Date(timeIntervalSince1970: 0))
        #expect(rows.next())
        #expect(abs(try #require(rows.date(forColumn: "e")).timeIntervalSince(now)) < 1)
    }

    @Test func nonASCIITextIsFound() throws {
        try db.executeUpdate("INSERT INTO t (a) VALUES (?)", values: ["/übertest"])
        let rows = try db.executeQuery("SELECT a FROM t WHERE a = ?", values: ["/übertest"])
        #expect(rows.next() && rows.string(forColumnIndex: 0) == "/übertest" && !rows.next())
    }

    @Test func hasAnotherRowIsTrueOnRowOnly() throws {
        #expect(db.executeUpdate("INSERT INTO t (a, c) VALUES (?, ?)", withArgumentsIn: ["one", 2]))
        let rows = try #require(db.executeQuery("SELECT * FROM t WHERE a = ?", withArgumentsIn: ["one"]))
        #expect(!rows.hasAnotherRow() && rows.next() && rows.hasAnotherRow())
        #expect(rows.string(forColumn: "a") == "one" && rows.int(forColumn: "c") == 2)
        #expect(!rows.next() && !rows.hasAnotherRow())
    }

    @Test func interpolatedValuesOfSeveralTypesAreBound() throws {
        let (text, number, letter, large) = ("te'xt", 42, Character("X"), Int64.max)
        #expect(
            db.executeUpdate(withFormat: "INSERT INTO t VALUES (\(text), \("\(letter)"), \(number), \(1.5), \(large))")
        )
        let rows = try #require(db.executeQuery(withFormat: "SELECT * FROM t WHERE a = \(text) AND c = \(number)"))
        #expect(rows.next() && rows.string(forColumn: "b") == "X" && rows.double(forColumn: "d") == 1.5)
        #expect(rows.longLongInt(forColumn: "c") == 42)
    }

    @Test func interpolatedNumbersOfEachSizeAreBound() throws {
        #expect(
            db.executeUpdate(
                withFormat: "INSERT INTO t (a, c, d) VALUES (\(Int16(-12)), \(UInt16(65535)), \(Float(0.5)))"
            )
        )
        let rows = try #require(db.executeQuery(withFormat: "SELECT * FROM t WHERE c = \(UInt32(65535))"))
        #expect(rows.next() && rows.int(forColumn: "a") == -12 && rows.double(forColumn: "d") == 0.5)
    }

    @Test func interpolatedNilIsNull() throws {
        let nothing: String? = nil
        #expect(db.executeUpdate(withFormat: "INSERT INTO t (a, b) VALUES (\("x"), \(nothing))"))
        let rows = try #require(db.executeQuery(withFormat: "SELECT * FROM t WHERE a = \("x")"))
        #expect(rows.next() && rows.columnIsNull("b") && rows.string(forColumn: "b") == nil)
    }

    @Test func interpolatedValuesRoundTrip() throws {
        let values: (String, Int, UInt32, Double, Int64) = ("%d %s 100%", -1, .max, .pi, .min)
        #expect(
            db.executeUpdate(
                withFormat:
                    "INSERT INTO t VALUES (\(values.0), \(values.1), \(values.2), \(values.3), \(values.4))"
            )
        )
        let rows = try db.executeQuery("SELECT * FROM t WHERE a LIKE '\\%d \\%s%' ESCAPE '\\'", values: nil)
        #expect(rows.next() && rows.string(forColumn: "a") == values.0 && rows.string(forColumn: "b") == "-1")
        #expect(rows.longLongInt(forColumn: "c") == 4_294_967_295 && rows.double(forColumn: "d") == .pi)
        #expect(rows.double(forColumn: "e") == Double(Int64.min))
    }

    @Test func tooFewArrayValuesGiveNoResultSet() {
        #expect(db.executeQuery("SELECT * FROM t WHERE a = ?", withArgumentsIn: []) == nil && db.hadError())
    }

    @Test func scriptRowsReachBlock() {
        #expect(
            db.executeStatements(
                """
                CREATE TABLE one (id INTEGER PRIMARY KEY, x TEXT); CREATE TABLE two (id INTEGER PRIMARY KEY, y BLOB);
                INSERT INTO one (x) VALUES ('first'); INSERT INTO two (y) VALUES (x'fffe');
                """
            )
        )
        var counts: [String] = []
        #expect(
            db.executeStatements("SELECT count(*) AS count FROM one; SELECT count(*) AS count FROM two;") { row in
                counts.append(row["count"] as? String ?? "?")
                return 0
            }
        )
        #expect(counts == ["1", "1"])
        #expect(db.executeStatements("SELECT y FROM two") { $0["y"] is NSNull ? 0 : 1 }, "a blob is no text")
        #expect(!db.executeStatements("SELECT 1; SELECT 2") { _ in 1 })
        #expect(db.lastErrorCode() == 4)
        #expect(db.executeStatements("DROP TABLE one; DROP TABLE two;") && !db.tableExists("one"))
    }

    @Test func boolAndInt8BindAsIntegers() throws {
        #expect(
            db.executeUpdate("INSERT INTO t (a, b, c) VALUES (?, ?, ?)", withArgumentsIn: [true, false, Int8(120)])
        )
        let rows = try db.executeQuery("SELECT a, b, c FROM t", values: nil)
        #expect(rows.next() && rows.bool(forColumn: "a") && !rows.bool(forColumn: "b"))
        #expect(rows.int(forColumn: "a") == 1 && rows.int(forColumn: "c") == 120)
        #expect(rows.object(forColumn: "c") as? Int == 120 && rows.object(forColumn: "a") as? String == "1")
    }

    @Test func lastInsertRowIDGrowsByOne() {
        #expect(db.executeUpdate("INSERT INTO t (a) VALUES (?)", withArgumentsIn: ["x"]))
        let first = db.lastInsertRowId
        #expect(db.executeUpdate("INSERT INTO t (a) VALUES (?)", withArgumentsIn: ["y"]))
        #expect(first != 0 && db.lastInsertRowId == first + 1)
    }

    @Test func updateCountsChangedRows() {
        for value in ["x", "y"] { #expect(db.executeUpdate("INSERT INTO t (a) VALUES (?)", withArgumentsIn: [value])) }
        #expect(db.changes == 1)
        #expect(db.executeUpdate("UPDATE t SET c = 1", withArgumentsIn: []) && db.changes == 2)
    }

    @Test func numbersOfEveryTypeRoundTrip() throws {
        #expect(db.executeStatements("CREATE TABLE n (v)"))
        let values: [Any] = [
            Int8.min, UInt8.max, Int16.min, UInt16.max, Int32.min, UInt32.max, Int.min, UInt.max, Int64.max, UInt64.max,
            Float(1.5), Double.pi, true,
        ]
        for value in values + values.compactMap({ $0 as? NSNumber }) {
            #expect(db.executeUpdate("INSERT INTO n VALUES (?)", withArgumentsIn: [value]))
        }
        let rows = try db.executeQuery("SELECT v FROM n ORDER BY rowid", values: nil)
        var found: [NSNumber] = []
        while rows.next() { found.append(rows[0] as? NSNumber ?? -1) }
        #expect(found.prefix(7).map(\.int64Value) == [-128, 255, -32768, 65535, Int64(Int32.min), 4_294_967_295, .min])
        #expect(found[7].uint64Value == .max && found[8].int64Value == .max && found[9].uint64Value == .max)
        #expect(found[10].doubleValue == 1.5 && found[11].doubleValue == .pi && found[12].boolValue)
    }

    @Test func nsNumberKeepsItsType() throws {
        let numbers: [NSNumber] = [
            NSNumber(value: 5), NSNumber(value: 2.5), NSNumber(value: true), NSDecimalNumber(string: "0.25"),
        ]
        let types = try numbers.map { number in
            let rows = try db.executeQuery("SELECT typeof(?)", values: [number])
            #expect(rows.next())
            return rows.string(forColumnIndex: 0)
        }
        #expect(types == ["integer", "real", "integer", "real"])
    }

    /// As on Apple's systems, where `doubleValue` of a decimal is the nearest.
    @Test(arguments: [
        "3.33", "19.99", "-3.33", "0.07", "0.1", "0", "-0.25", "1e30", "1.5e-20", "12345678901234567890.123456789",
        "99999999999999999999999999999999999999", "0.00000000000000000000000000000000000001", "1e127",
    ])
    func decimalIsNearestNumber(text: String) throws {
        let nearest = try #require(Double(text))
        let decimal = try #require(Decimal(string: text))
        for number in [NSDecimalNumber(string: text), NSDecimalNumber(string: text) as NSNumber, decimal] as [Any] {
            let rows = try db.executeQuery("SELECT ?, typeof(?)", values: [number, number])
            #expect(rows.next())
            #expect(rows.double(forColumnIndex: 0) == nearest && rows.string(forColumnIndex: 1) == "real")
        }
    }

    @Test func numbersOfOtherKindsAreStoredAsTheyAre() throws {
        let values: [Any] = [
            NSNumber(value: Float(0.1)), NSNumber(value: true), NSNumber(value: UInt64.max), NSNumber(value: Int8(-5)),
            NSNumber(value: 0.1), NSDecimalNumber.notANumber, Float(0.1), CGFloat(0.1), UInt32.max,
            Decimal(string: "3.33")!,
        ]
        let rows = try db.executeQuery("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?", values: values)
        #expect(rows.next())
        #expect(rows.double(forColumnIndex: 0) == Double(Float(0.1)) && rows.int(forColumnIndex: 1) == 1)
        #expect(rows.unsignedLongLongInt(forColumnIndex: 2) == .max && rows.int(forColumnIndex: 3) == -5)
        #expect(rows.double(forColumnIndex: 4) == 0.1 && rows.columnIndexIsNull(5))
        #expect(rows.double(forColumnIndex: 6) == Double(Float(0.1)) && rows.double(forColumnIndex: 7) == 0.1)
        #expect(rows.longLongInt(forColumnIndex: 8) == 4_294_967_295 && rows.string(forColumnIndex: 9) == "3.33")
    }

    @Test func largestUnsignedNumberRoundTrips() throws {
        #expect(db.executeUpdate("INSERT INTO t (c) VALUES (?)", withArgumentsIn: [UInt64.max]))
        let rows = try db.executeQuery("SELECT c FROM t", values: nil)
        #expect(rows.next() && rows.unsignedLongLongInt(forColumn: "c") == .max)
        #expect(rows.unsignedLongLongInt(forColumnIndex: 0) == .max)
        rows.close()
        #expect(!db.hasOpenResultSets)
    }

    @Test func violatedConstraintIsCode19() {
        #expect(db.executeStatements("CREATE TABLE k (id INTEGER PRIMARY KEY)"))
        #expect(db.executeUpdate("INSERT INTO k VALUES (5)", withArgumentsIn: []))
        #expect(!db.executeUpdate("INSERT INTO k VALUES (5)", withArgumentsIn: []))
        #expect(db.lastErrorCode() == 19 && db.lastExtendedErrorCode() == 1555 && db.lastError().code == 19)
    }

    @Test func boundBytesAreCopiedBeforeTheyChange() throws {
        var bytes = Data("before".utf8)
        let rows = try db.executeQuery("SELECT ?", values: [bytes])
        bytes.replaceSubrange(0..<6, with: Data("after!".utf8))
        #expect(rows.next() && rows.data(forColumnIndex: 0) == Data("before".utf8) && bytes == Data("after!".utf8))
    }

    @Test func blobBeyondLimitIsNotBound() {
        #expect(db.limit(for: 0, value: 1000) > 1000)
        #expect(db.limit(for: 0, value: -1) == 1000 && db.limit(for: 99, value: 1) == -1)
        #expect(!db.executeUpdate("INSERT INTO t (a) VALUES (?)", withArgumentsIn: [Data(count: 1001)]))
        #expect(db.lastErrorCode() == 18)
        #expect(db.executeUpdate("INSERT INTO t (a) VALUES (?)", withArgumentsIn: [Data(count: 10)]))
    }

    @Test func blobIsReadWithAndWithoutCopy() throws {
        let bytes = Data((0...255).map { UInt8($0) })
        #expect(db.executeUpdate("INSERT INTO t (a, b) VALUES (?, ?)", withArgumentsIn: ["blob", bytes]))
        let rows = try db.executeQuery("SELECT b FROM t WHERE a = ?", values: ["blob"])
        #expect(rows.next() && rows.data(forColumn: "b") == bytes && rows.dataNoCopy(forColumn: "b") == bytes)
        #expect(rows.dataNoCopy(forColumnIndex: 0) == bytes && rows.utf8String(forColumnIndex: 0) != nil)
    }

    /// An `Any` in an `Any`, as a generic function or a mirror makes it.
    @Test func nestedExistentialIsBound() {
        func insert<Value>(_ value: Value) -> Bool {
            db.executeUpdate("INSERT INTO nested VALUES (?)", withArgumentsIn: [value])
        }
        #expect(db.executeUpdate("CREATE TABLE nested (a)", withArgumentsIn: []))
        let values: [Any] = ["text", 1, 2.5, Data([1]), Int64(3), true]
        for value in values { #expect(insert(value)) }
        let hashable: any Hashable = 4
        #expect(insert(hashable))
        #expect(insert([hashable][0]))
        #expect(db.intForQuery("SELECT count(*) FROM nested WHERE a IS NOT NULL") == 8)
    }
}
