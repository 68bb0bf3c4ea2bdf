/// Waits until `condition` holds, without blocking a thread.
///
/// - Throws: ``NeverHeld`` if it does not hold within `limit`: a test is to fail then, and not to wait for it. While other tests occupy
///   the threads of the cooperative pool the limit is longer: what the condition waits for gets its turns between the looks.
package func eventually(
    within limit: Duration = .seconds(20),
    _ condition: () throws -> Bool
) async throws {
    let latest = ContinuousClock.now + limit
    var looks = 0
    while try !condition() {
        looks += 1
        guard .now < latest || looks < 1000 else { throw NeverHeld() }
        try await Task<Never, Never>.sleep(for: .milliseconds(1))
    }
}

/// What a test waited for did not come.
package struct NeverHeld: Error {}
