internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The values for the parameters of a statement: in order, or by name.
///
/// ```swift
/// try database.executeUpdate("UPDATE notes SET text = ? WHERE id = ?", values: [text, id])
/// try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: ["text": text, "id": id])
/// try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: .encoding(note))
/// ```
///
/// A literal makes them; of an array or a dictionary in a variable, `StatementValues(ids)` does.
public struct StatementValues: Sendable, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    enum Content: Sendable {
        /// As many as there are parameters.
        case ordered([(any ColumnEncodable)?])
        /// Those that stand in the SQL itself; as many as there are parameters.
        case interpolated([SQL.Interpolated])
        /// One for each parameter, and no others unless lenient.
        case named([String: (any ColumnEncodable)?], isLenient: Bool)
    }

    let content: Content

    init(_ content: Content) {
        self.content = content
    }

    /// Values in the order of the parameters.
    public init(_ values: [(any ColumnEncodable)?]) {
        self.init(.ordered(values))
    }

    /// Values by the names of the parameters, with or without `:`, `@` or `$`.
    public init(_ values: [String: (any ColumnEncodable)?]) {
        self.init(.named(values, isLenient: false))
    }

    /// Values in the order of the parameters.
    public init(arrayLiteral values: (any ColumnEncodable)?...) {
        self.init(values)
    }

    /// Values by the names of the parameters, with or without `:`, `@` or `$`. Of a name that stands twice the last counts.
    public init(dictionaryLiteral values: (String, (any ColumnEncodable)?)...) {
        self.init(Dictionary(values) { $1 })
    }

    /// The values of `row` by its coding keys: a parameter has the name of one. Keys without a parameter do not matter.
    ///
    /// - Throws: ``DatabaseError`` for something inside that cannot be stored; what `row` throws.
    public static func encoding(_ row: some Encodable) throws -> StatementValues {
        let values = try RowEncoder.values(of: row).map { ($0.name, $0.value) }
        return StatementValues(.named(Dictionary(values) { first, _ in first }, isLenient: true))
    }

    /// As by name; names that the statement does not have do not matter, as in FMDB.
    package static func lenient(_ values: [String: (any ColumnEncodable)?]) -> StatementValues {
        StatementValues(.named(values, isLenient: true))
    }

    var isEmpty: Bool {
        switch content {
        case .ordered(let values): values.isEmpty
        case .interpolated(let values): values.isEmpty
        case .named(let values, let isLenient): values.isEmpty && !isLenient
        }
    }
}

/// A parameter of a statement, to which a value is bound.
public struct Parameter {
    @usableFromInline let statement: PreparedStatement
    /// Counted from 1.
    public let index: Int

    @inlinable init(statement: PreparedStatement, index: Int) {
        self.statement = statement
        self.index = index
    }

    /// The statement, where the calling thread may use it: values are bound within the call that runs it.
    private var owned: PreparedStatement {
        @inline(__always) get throws {
            guard statement.isMine else { throw Turn.refusalOfParameter }
            return statement
        }
    }

    /// The settings of the database.
    var storage: ValueStorage { get throws { try owned.storage } }

    /// Binds NULL.
    public func bindNull() throws {
        try owned.bindNull(at: index)
    }

    /// Binds an integer.
    public func bind(_ value: Int64) throws {
        try owned.bind(value, at: index)
    }

    /// Binds a number; SQLite stores a NaN as NULL.
    public func bind(_ value: Double) throws {
        try owned.bind(value, at: index)
    }

    /// Binds text.
    public func bind(_ value: String) throws {
        try owned.bind(value, at: index)
    }

    /// Binds a blob, which is copied.
    public func bind(_ bytes: UnsafeRawBufferPointer) throws {
        try owned.bind(blob: bytes, at: index)
    }

    /// As the bytes, in one call fewer for each of many rows.
    func bind(data: Data) throws {
        let statement = try owned
        try data.withUnsafeBytes { try statement.bind(blob: $0, at: index) }
    }

    /// Binds a value of whatever kind.
    public func bind(_ value: DatabaseValue) throws {
        switch value {
        case .null: try bindNull()
        case .integer(let value): try bind(value)
        case .real(let value): try bind(value)
        case .text(let value): try bind(value)
        case .blob(let value): try value.withUnsafeBytes { try bind($0) }
        }
    }
}

/// It belongs to its statement.
@available(*, unavailable)
extension Parameter: Sendable {}

extension ColumnEncodable {
    /// Counts the values of a pack.
    @inlinable static func count(in count: inout Int) { count += 1 }
}

extension Statement {
    func bind(_ values: StatementValues) throws {
        switch values.content {
        case .ordered(let values):
            try check(count: values.count)
            for index in values.indices {
                // In place: a copy of such a value takes longer than binding it.
                let parameter = Parameter(statement: prepared, index: index + 1)
                if try values[index]?.bind(to: parameter) == nil { try parameter.bindNull() }
            }
        case .interpolated(let values):
            try check(interpolated: values.count)
            if values.contains(where: \.isString) { try values.checkStrings(in: constantParameters, of: sql) }
            for index in values.indices {
                let parameter = Parameter(statement: prepared, index: index + 1)
                if try values[index].value?.bind(to: parameter) == nil { try parameter.bindNull() }
            }
        case .named(let values, let isLenient): try bind(named: values, isLenient)
        }
    }

    @usableFromInline func check(count: Int) throws {
        guard count == parameterCount else { throw wrongCount(count) }
    }

    func wrongCount(_ count: Int) -> DatabaseError {
        DatabaseError(
            .range,
            "the statement has \(parameterCount.counted("parameter")), and \(count.counted("value")) "
                + (count == 1 ? "was given" : "were given"),
            sql: sql
        )
    }

    private func check(interpolated count: Int) throws {
        guard count != parameterCount else { return }
        throw DatabaseError(
            .range,
            count < parameterCount
                ? "the SQL has interpolated values and parameters such as ? or :name; use one of the two"
                : "an interpolated value stands in quotes or in a comment of the SQL, where none is bound; write \\(value) without quotes",
            sql: sql
        )
    }

    /// Binds values by name; every parameter has one, and every name its parameter unless `isLenient`.
    private func bind(named values: [String: (any ColumnEncodable)?], _ isLenient: Bool) throws {
        let isSnakeCase = isLenient && prepared.storage.columnsAreSnakeCase
        let keys = isSnakeCase ? Dictionary(values.keys.sorted().map { ($0.snakeCase, $0) }) { first, _ in first } : [:]
        var used: Set<String> = []
        for index in 1..<(parameterCount + 1) {
            guard let parameter = prepared.parameterName(index), !parameter.hasPrefix("?") else {
                throw DatabaseError(.range, "parameter \(index) has no name; give the values in order", sql: sql)
            }
            // By the name alone, as it stands in the SQL, or as a coding key.
            let name = String(parameter.dropFirst())
            let key = values[name] == nil ? keys[name] ?? parameter : name
            guard let value = values[key] else {
                throw DatabaseError(.range, "no value was given for the parameter \(parameter)", sql: sql)
            }
            used.insert(key)
            let place = Parameter(statement: prepared, index: index)
            if let value { try value.bind(to: place) } else { try place.bindNull() }
        }
        if !isLenient, let unknown = values.keys.filter({ !used.contains($0) }).min() {
            throw DatabaseError(.range, "the statement has no parameter with the name \(unknown)", sql: sql)
        }
    }
}
