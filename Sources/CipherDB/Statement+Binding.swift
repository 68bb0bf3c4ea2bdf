extension Statement {
    /// Binds values to the parameters in order; as many as there are parameters.
    func bind(_ values: [(any Bindable)?]) throws {
        try check(count: values.count)
        for index in values.indices {
            let parameter = Parameter(statement: prepared, index: index + 1)
            // In place: a copy of such a value takes longer than binding it.
            if try values[index]?.bind(to: parameter) == nil { try parameter.bindNull() }
        }
    }

    func check(count: Int) throws {
        guard count == parameterCount else {
            throw DatabaseError(
                .range,
                "the statement has \(parameterCount) parameters, and \(count) values were given",
                sql: sql
            )
        }
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
            let place = Parameter(statement: prepared, index: index)
            if let value { try value.bind(to: place) } else { try place.bindNull() }
        }
        if !lenient, let unknown = values.keys.filter({ !used.contains($0) }).min() {
            throw DatabaseError(.range, "the statement has no parameter of the name \(unknown)", sql: sql)
        }
    }
}
