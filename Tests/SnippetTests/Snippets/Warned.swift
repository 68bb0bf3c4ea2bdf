// What compiles, with a warning that says what to write instead, and throws.
import CipherDB

func integers(_ database: Database, _ statement: Statement, _ id: Int) throws {
    // 1: integers in brackets for one value
    try database.executeUpdate("DELETE FROM player WHERE id = ?", [1])
    // warned: 'executeUpdate' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    try database.executeUpdate("DELETE FROM player WHERE id = ? OR id = ?", [id, 2])
    // warned: 'executeUpdate' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    _ = try database.executeQuery("SELECT * FROM player WHERE id = ?", [1])
    // warned: 'executeQuery' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    _ = try database.fetchAll(Int.self, "SELECT score FROM player WHERE id = ?", [1])
    // warned: 'fetchAll' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    _ = try database.fetchOne(Int.self, "SELECT score FROM player WHERE id = ?", [1])
    // warned: 'fetchOne' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    let score: Int? = try database.value(forQuery: "SELECT score FROM player WHERE id = ?", [1])
    // warned: 'value(forQuery:_:)' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    _ = try database.string(forQuery: "SELECT name FROM player WHERE id = ?", [1])
    // warned: 'string(forQuery:_:)' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    try statement.executeUpdate([1])
    // warned: 'executeUpdate' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    // 2: in the SQL
    let sql: SQL = "SELECT * FROM player WHERE id IN (\([1, 2, 3]))"
    // warned: 'appendInterpolation' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    // 3: a column
    _ = Column("id") == [1]
    // warned: '==' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    _ = Column("id") != [1, 2]
    // warned: '!=' is deprecated: an array of integers is not one value: write values: [1, 2] for several, IN (\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes
    _ = (score, sql)
}

func patterns(_ database: Database, _ text: String) throws {
    _ = try database.executeQuery("SELECT * FROM search WHERE search MATCH \(FTS5Pattern(matchingAllTokensIn: text))")
    // warned: 'appendInterpolation' is deprecated: text without words makes no pattern: unwrap it, and run no search for nil
}
