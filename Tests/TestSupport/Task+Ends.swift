extension Task where Success == Void {
    /// Whether it ends within `limit`: where it does not, a test is to fail, and not to wait for it.
    package func ends(within limit: Duration = .seconds(20)) async throws -> Bool {
        let end = Gate()
        Task<Void, Never> {
            _ = await result
            end.open()
        }
        do {
            try await eventually(within: limit) { end.passed }
            return true
        } catch is NeverHeld {
            return false
        }
    }
}
