#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Statement {
    /// Binds values to the parameters in order; as many as there are parameters.
    func bind(_ values: [(any Bindable)?]) throws {
        guard values.count == parameterCount else {
            throw DatabaseError(
                .range,
                "the statement has \(parameterCount) parameters, and \(values.count) values were given",
                sql: sql
            )
        }
        for (offset, value) in values.enumerated() { try bind(value, at: offset + 1) }
    }

    /// Binds values by name; every parameter has one, and every name its parameter unless `lenient`.
    func bind(_ values: [String: (any Bindable)?], lenient: Bool = false) throws {
        var used: Set<String> = []
        for index in 1..<(parameterCount + 1) {
            guard let parameter = prepared.parameterName(index), !parameter.hasPrefix("?") else {
                throw DatabaseError(.range, "parameter \(index) has no name; give the values in order", sql: sql)
            }
            let name = String(parameter.dropFirst())
            guard let value = values[name] else {
                throw DatabaseError(.range, "no value was given for the parameter \(parameter)", sql: sql)
            }
            used.insert(name)
            try bind(value, at: index)
        }
        if !lenient, let unknown = values.keys.filter({ !used.contains($0) }).min() {
            throw DatabaseError(.range, "the statement has no parameter of the name \(unknown)", sql: sql)
        }
    }

    private func bind(_ value: (any Bindable)?, at index: Int) throws {
        if let format = prepared.dateFormat, let date = value as? Date {
            return try prepared.bind(format.string(date), at: index)
        }
        switch try value?.databaseValue ?? .null {
        case .null: try prepared.bindNull(at: index)
        case .integer(let value): try prepared.bind(value, at: index)
        case .real(let value): try prepared.bind(value, at: index)
        case .text(let value): try prepared.bind(value, at: index)
        case .blob(let value): try value.withUnsafeBytes { try prepared.bind(blob: $0, at: index) }
        }
    }
}
