package import CipherKeys
package import Testing

/// As `#expect(throws:)`, of an error with this code.
@discardableResult
package func expect<Failure: CodedError, Result>(
    throws code: ErrorCode<Failure>,
    _ comment: @autoclosure () -> Comment? = nil,
    where holds: (Failure) -> Bool = { _ in true },
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
) -> Failure? {
    check(Swift.Result { _ = try body() }, code, comment(), holds, sourceLocation)
}

/// As `#expect(throws:)`, of an error with this code.
@discardableResult
package func expect<Failure: CodedError, Result>(
    throws code: ErrorCode<Failure>,
    _ comment: @autoclosure () -> Comment? = nil,
    where holds: (Failure) -> Bool = { _ in true },
    isolation: isolated (any Actor)? = #isolation,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Result
) async -> Failure? {
    do {
        _ = try await body()
        return check(.success(()), code, comment(), holds, sourceLocation)
    } catch {
        return check(.failure(error), code, comment(), holds, sourceLocation)
    }
}

private func check<Failure: CodedError>(
    _ outcome: Result<Void, any Error>,
    _ code: ErrorCode<Failure>,
    _ comment: Comment?,
    _ holds: (Failure) -> Bool,
    _ sourceLocation: SourceLocation
) -> Failure? {
    var thrown: (any Error)?
    if case .failure(let error) = outcome { thrown = error }
    let error = thrown as? Failure
    let isExpected = error.map { $0.code == code && holds($0) } ?? false
    let text = thrown.map { "\($0) was thrown" } ?? "nothing was thrown"
    #expect(isExpected, "\(text) in place of \(code)\(comment.map { ": \($0)" } ?? "")", sourceLocation: sourceLocation)
    return error
}
