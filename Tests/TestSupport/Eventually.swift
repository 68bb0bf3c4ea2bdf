/// Waits until `condition` holds, without holding up a thread.
///
/// - Throws: ``NeverHeld`` where it does not hold within `limit`: a test is to fail then, and not to wait for it.
package func eventually(
    within limit: Duration = .seconds(20),
    _ condition: () throws -> Bool
) async throws {
    let latest = ContinuousClock.now + limit
    while try !condition() {
        guard .now < latest else { throw NeverHeld() }
        try await Task<Never, Never>.sleep(for: .milliseconds(1))
    }
}

/// What a test waited for did not come.
package struct NeverHeld: Error {}
