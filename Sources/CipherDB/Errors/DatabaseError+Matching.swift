// Codes to match errors by: `catch DatabaseError.constraintUnique`, `case .busy:` in a `switch`.
extension ResultCode {
    /// Whether an error of any type is a ``DatabaseError`` with this code, or of its kind: `constraint` matches each of its extended codes.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        (error as? DatabaseError).map { pattern ~= $0.code } ?? false
    }
}

extension DatabaseError {
    /// Whether the error has this code, or one of its kind.
    public static func ~= (pattern: ResultCode, error: DatabaseError) -> Bool { pattern ~= error.code }

    /// The codes by their names, as patterns: `catch DatabaseError.busy`.
    public static subscript(dynamicMember code: KeyPath<ResultCode.Type, ResultCode>) -> ResultCode {
        ResultCode.self[keyPath: code]
    }
}
