import FMDBCompat
import Foundation
import Testing

@Suite struct FMDatabaseFunctionTests {
    let db: FMDatabase

    init() {
        db = FMDatabase(path: nil)
        db.logsErrors = false
        db.open()
    }

    /// What the first row of `SELECT name()` fails with.
    private func failure(_ sql: String) throws -> NSError? {
        let rows = try db.executeQuery(sql, values: nil)
        do {
            try rows.nextWithError()
            return nil
        } catch {
            return error as NSError
        }
    }

    private func makeHypotenuse() {
        db.makeFunctionNamed("Hypotenuse", arguments: 2) { context, _, argv in
            let (first, second) = (db.valueType(argv[0]), db.valueType(argv[1]))
            guard [.integer, .float].contains(first), [.integer, .float].contains(second) else {
                return db.resultError("Expected numeric", context: context)
            }
            let long = (pow(db.valueDouble(argv[0]), 2) + pow(db.valueDouble(argv[1]), 2)).squareRoot()
            if first == .integer && second == .integer {
                db.resultInt(Int32(long), context: context)
            } else {
                db.resultDouble(long, context: context)
            }
        }
    }

    private func makeUppercased() {
        db.makeFunctionNamed("Uppercased", arguments: 1) { context, argc, argv in
            guard argc == 1, db.valueType(argv[0]) == .text, let text = db.valueString(argv[0]) else {
                return db.resultError("Expected text", context: context)
            }
            db.resultString(text.uppercased(), context: context)
        }
    }

    private func makeAlternating() {
        db.makeFunctionNamed("Alternating", arguments: 1) { context, _, argv in
            guard db.valueType(argv[0]) == .blob, var data = db.valueData(argv[0]) else {
                return db.resultError("Expected blob", context: context)
            }
            for index in stride(from: 0, to: data.count, by: 2) { data[index] = 1 }
            db.resultData(data, context: context)
        }
    }

    @Test func customFunctionTakesText() {
        makeUppercased()
        #expect(db.stringForQuery("SELECT Uppercased(?)", "josé") == "JOSÉ")
    }

    @Test func textFunctionNamesExpectedType() throws {
        makeUppercased()
        #expect(try failure("SELECT Uppercased(12)")?.localizedDescription == "Expected text")
        #expect(db.executeQuery("SELECT Uppercased('a', 'b')", withArgumentsIn: []) == nil)
        #expect(db.lastErrorMessage().contains("wrong number of arguments"))
    }

    @Test func customFunctionTakesRealNumbers() {
        makeHypotenuse()
        #expect(db.doubleForQuery("SELECT Hypotenuse(?, ?)", 3.0, 4.0) == 5)
    }

    @Test func customFunctionTakesIntegers() throws {
        makeHypotenuse()
        let rows = try db.executeQuery("SELECT Hypotenuse(3, 4)", values: nil)
        #expect(rows.next() && rows.int(forColumnIndex: 0) == 5 && rows.type(forColumnIndex: 0) == .integer)
    }

    @Test func numberFunctionNamesExpectedType() throws {
        makeHypotenuse()
        #expect(try failure("SELECT Hypotenuse('foo', 'bar')")?.localizedDescription == "Expected numeric")
        #expect(db.executeQuery("SELECT Hypotenuse(3)", withArgumentsIn: []) == nil && db.hadError())
    }

    @Test func customFunctionTakesBlobs() {
        makeAlternating()
        let result = db.dataForQuery("SELECT Alternating(?)", Data(count: 256))
        #expect(result == Data((0..<256).map { $0.isMultiple(of: 2) ? 1 : 0 }))
        #expect(db.dataForQuery("SELECT Alternating(?)", Data()) == Data())
    }

    @Test func blobFunctionNamesExpectedType() throws {
        makeAlternating()
        #expect(try failure("SELECT Alternating('text')")?.localizedDescription == "Expected blob")
    }

    @Test func nullArgumentIsZeroOrNil() {
        db.makeFunctionNamed("IsNothing", arguments: 1) { context, _, argv in
            let value = argv[0]
            let isNothing =
                db.valueType(value) == .null && db.valueData(value) == nil && db.valueString(value) == nil
                && db.valueInt(value) == 0 && db.valueLong(value) == 0 && db.valueDouble(value) == 0
            db.resultInt(isNothing ? 1 : 0, context: context)
        }
        #expect(db.intForQuery("SELECT IsNothing(NULL)") == 1 && db.intForQuery("SELECT IsNothing(3)") == 0)
    }

    @Test func argumentsAreConvertedAsSQLiteDoes() {
        db.makeFunctionNamed("Sum", arguments: -1) { context, argc, argv in
            let sum = (0..<Int(argc)).reduce(Int64(0)) { $0 + db.valueLong(argv[$1]) }
            db.resultLong(sum + Int64(db.valueDouble(argv[0]) * 0), context: context)
        }
        #expect(db.longForQuery("SELECT Sum(1, 2.9, '39 steps', 'none', x'3132')") == 42)
        #expect(db.longForQuery("SELECT Sum(1e300)") == .max)
    }

    @Test func customFunctionReturnsInteger() {
        db.makeFunctionNamed("Answer", arguments: 0) { context, _, _ in db.resultInt(42, context: context) }
        #expect(db.intForQuery("SELECT Answer()") == 42)
    }

    @Test func customFunctionReturnsLongInteger() {
        db.makeFunctionNamed("Answer", arguments: 0) { context, _, _ in db.resultLong(.min, context: context) }
        #expect(db.longForQuery("SELECT Answer()") == .min)
    }

    @Test func customFunctionReturnsRealNumber() {
        db.makeFunctionNamed("Answer", arguments: 0) { context, _, _ in db.resultDouble(0.1, context: context) }
        #expect(db.doubleForQuery("SELECT Answer()") == 0.1)
    }

    @Test func customFunctionReturnsNull() throws {
        db.makeFunctionNamed("Answer", arguments: 0) { context, _, _ in db.resultNull(context: context) }
        let rows = try db.executeQuery("SELECT Answer()", values: nil)
        #expect(rows.next() && rows[0] is NSNull)
    }

    @Test func functionErrorKeepsMessageAndCode() throws {
        db.makeFunctionNamed("Fails", arguments: 0) { context, _, _ in
            db.resultError("foo", context: context)
            db.resultErrorCode(42, context: context)
        }
        let error = try #require(try failure("SELECT Fails()"))
        #expect(error.localizedDescription == "foo" && error.code == 42)
        #expect(db.lastErrorMessage() == "foo" && db.lastErrorCode() == 42)
    }

    @Test func oversizedResultIsError() throws {
        db.makeFunctionNamed("Fails", arguments: 0) { context, _, _ in db.resultErrorTooBig(context: context) }
        let error = try #require(try failure("SELECT Fails()"))
        #expect(error.localizedDescription == "string or blob too big" && error.code == 18)
    }

    @Test func outOfMemoryResultIsError() throws {
        db.makeFunctionNamed("Fails", arguments: 0) { context, _, _ in db.resultErrorNoMemory(context: context) }
        let error = try #require(try failure("SELECT Fails()"))
        #expect(error.localizedDescription == "out of memory" && error.code == 7)
    }
}
