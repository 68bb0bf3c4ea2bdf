#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Functions and collations written in Swift. They stay with this database when it is closed and opened again.
///
/// For every connection of a queue or pool, make them in ``Configuration/prepareDatabase``.
extension Database {
    /// Makes the functions of another database on this one, each time it is opened.
    package func takeFunctions(of other: Database) { registrations = other.registrations }

    /// Makes a function that SQL can call, or replaces the one of this name and number of arguments.
    ///
    /// What `body` throws is thrown by the call that runs the statement, as it is.
    ///
    /// - Parameters:
    ///   - name: The name, at most 255 bytes.
    ///   - arguments: How many it takes; nil for any number. SQL that gives another number does not compile.
    ///   - isDeterministic: Whether the same arguments always give the same result, which SQLite may then remember; only
    ///     such a function may stand in an index.
    ///   - isInnocuous: Whether views, triggers, defaults, checks and indexes may call it, as well as SQL of the program
    ///     (SQLITE_INNOCUOUS). Off unless set: then the schema of a database from somebody else cannot call it. SQLite before
    ///     3.30 enforces that for views and triggers only.
    ///   - body: Gets the arguments and returns the result. It must not use this database.
    /// - Throws: ``DatabaseError`` for a name or number that SQLite does not take, and where the database is not open.
    public func makeFunction(
        named name: String,
        arguments: Int? = nil,
        isDeterministic: Bool = false,
        isInnocuous: Bool = false,
        _ body: @escaping @Sendable ([DatabaseValue]) throws -> (any ColumnEncodable)?
    ) throws {
        try makeLocalFunction(
            named: name,
            arguments: arguments,
            isDeterministic: isDeterministic,
            isInnocuous: isInnocuous,
            body
        )
    }

    /// As the public form, for a caller who keeps the function on this database's own thread.
    package func makeLocalFunction(
        named name: String,
        arguments: Int?,
        isDeterministic: Bool,
        isInnocuous: Bool = false,
        _ body: @escaping ([DatabaseValue]) throws -> (any ColumnEncodable)?
    ) throws {
        let count = try argumentCount(arguments)
        try register(.function(name, count)) { connection in
            try connection.createFunction(
                name,
                arguments: count,
                deterministic: isDeterministic,
                innocuous: isInnocuous,
                body
            )
        }
    }

    /// Makes a function that SQL calls once for each row of a group, such as `sum`.
    ///
    /// - Parameters:
    ///   - name: The name, at most 255 bytes.
    ///   - arguments: How many it takes; nil for any number.
    ///   - isInnocuous: Whether a schema may call it; see ``makeFunction(named:arguments:isDeterministic:isInnocuous:_:)``.
    ///   - initial: What the state of each group begins with.
    ///   - step: Takes one row's arguments into the state.
    ///   - result: The result from the state; called once for a group, also for one without rows.
    /// - Throws: as ``makeFunction(named:arguments:isDeterministic:isInnocuous:_:)``.
    public func makeAggregate<State>(
        named name: String,
        arguments: Int? = nil,
        isInnocuous: Bool = false,
        initial: @escaping @Sendable () -> State,
        step: @escaping @Sendable (inout State, [DatabaseValue]) throws -> Void,
        result: @escaping @Sendable (State) throws -> (any ColumnEncodable)?
    ) throws {
        let count = try argumentCount(arguments)
        let body = AggregateBody(
            begin: { Group<State>(initial()) },
            step: { group, values in
                guard let group = group as? Group<State> else { return }
                try step(&group.state, values)
            },
            result: { group in try result((group as? Group<State>)?.state ?? initial()) }
        )
        try register(.function(name, count)) { connection in
            try connection.createAggregate(name, arguments: count, innocuous: isInnocuous, body)
        }
    }

    /// Removes a function made here.
    ///
    /// - Throws: ``DatabaseError`` where a statement that calls it is running.
    public func removeFunction(named name: String, arguments: Int? = nil) throws {
        let count = try argumentCount(arguments)
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        registrations[.function(name, count)] = nil
        clearCachedStatements()
        try usableConnection().removeFunction(name, arguments: count)
    }

    /// Makes an order of texts, for `COLLATE name`. It must always answer alike: indexes rely on it.
    ///
    /// - Throws: ``DatabaseError`` where a statement that uses the name is running, or the database is not open.
    public func makeCollation(
        named name: String,
        _ compare: @escaping @Sendable (String, String) -> ComparisonResult
    ) throws {
        try register(.collation(name)) { try $0.createCollation(name, compare) }
    }

    /// Forgets what was made in Swift, for connections that are opened later.
    package func forgetRegistrations() {
        inTurn(or: ()) { registrations = [:] }
    }

    private func argumentCount(_ arguments: Int?) throws -> Int32 {
        guard let arguments else { return -1 }
        guard (0...127).contains(arguments) else {
            throw DatabaseError(.range, "a function takes 0 to 127 arguments, not \(arguments)")
        }
        return Int32(arguments)
    }

    /// Does something with the connection, and with each that is opened later. Before the key is given, only with those.
    func register(_ registration: Registration, _ install: @escaping (Connection) throws -> Void) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        if case .unkeyed = state { return registrations[registration] = install }
        // Statements compiled before would go on with what they were compiled with.
        clearCachedStatements()
        try install(try usableConnection())
        registrations[registration] = install
    }
}

/// Functions and the like made in Swift, by their names in SQLite: without regard to the case of ASCII letters.
struct Registration: Hashable {
    private let kind: String
    private let name: [UInt8]
    private let arguments: Int32

    private init(_ kind: String, _ name: String, _ arguments: Int32 = 0) {
        self.kind = kind
        self.name = name.utf8.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        self.arguments = arguments
    }

    static func function(_ name: String, _ arguments: Int32) -> Registration { .init("function", name, arguments) }
    static func collation(_ name: String) -> Registration { .init("collation", name) }
    static func tokenizer(_ name: String) -> Registration { .init("tokenizer", name) }
}

/// The state of an aggregate function for one group of rows.
private final class Group<State> {
    var state: State

    init(_ state: State) {
        self.state = state
    }
}

/// The value of an argument, where it has the kind that is asked for.
extension DatabaseValue {
    /// Whether it is NULL.
    public var isNull: Bool { self == .null }

    /// The integer.
    public var int64Value: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The number, also from an integer.
    public var doubleValue: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        case .null, .text, .blob: nil
        }
    }

    /// The text.
    public var stringValue: String? { if case .text(let value) = self { value } else { nil } }

    /// The bytes.
    public var dataValue: Data? { if case .blob(let value) = self { value } else { nil } }
}
