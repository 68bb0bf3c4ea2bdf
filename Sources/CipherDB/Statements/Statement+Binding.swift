internal import CipherSystem

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
        guard count == parameterCount else {
            throw DatabaseError(
                .range,
                "the statement has \(parameterCount.counted("parameter")), and \(count.counted("value")) "
                    + (count == 1 ? "was given" : "were given"),
                sql: sql
            )
        }
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
        var used: Set<String> = []
        for index in 1..<(parameterCount + 1) {
            guard let parameter = prepared.parameterName(index), !parameter.hasPrefix("?") else {
                throw DatabaseError(.range, "parameter \(index) has no name; give the values in order", sql: sql)
            }
            // By the name alone, or as it stands in the SQL.
            let name = String(parameter.dropFirst())
            let key = values[name] == nil ? parameter : name
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
