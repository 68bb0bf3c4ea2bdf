/// Compiled statements that are not in use, by their SQL; bounded, and the one unused longest goes first.
struct StatementCache {
    private var statements: [String: (statement: Statement, lastUse: Int)] = [:]
    private var clock = 0
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { statements.count }

    /// Takes the statement out, so that nobody else gets it while it is in use.
    mutating func take(_ sql: String) -> Statement? {
        statements.removeValue(forKey: sql)?.statement
    }

    /// Gives a statement back. Where two were in use for one SQL, the second to come back is finalised.
    mutating func give(_ statement: Statement) {
        guard capacity > 0, statements[statement.sql] == nil, !DatabaseError.mayHoldKey(statement.sql) else {
            statement.prepared.finalize()
            return
        }
        if statements.count >= capacity, let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            oldest.value.statement.prepared.finalize()
            statements[oldest.key] = nil
        }
        clock += 1
        statements[statement.sql] = (statement, clock)
    }

    mutating func removeAll() {
        for entry in statements.values { entry.statement.prepared.finalize() }
        statements.removeAll()
    }
}
