#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
