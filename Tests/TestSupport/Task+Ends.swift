extension Task where Success == Void {
    /// Whether it ends within `limit`: where it does not, a test is to fail, and not to wait for it.
    package func ends(within limit: Duration = .seconds(20)) async throws -> Bool {
        let end = Gate()
        Task<Void, Never> {
            _ = await result
            end.open()
        }
        let latest = ContinuousClock.now + limit
        while !end.passed {
            guard .now < latest else { return false }
            try await Task<Never, Never>.sleep(for: .milliseconds(1))
        }
        return true
    }
}
