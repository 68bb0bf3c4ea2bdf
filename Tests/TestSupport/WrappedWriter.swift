package import CipherDB
package import CipherKeys

/// A program's own type that conforms to `DatabaseWriter`, around another.
package final class WrappedWriter: DatabaseWriter {
    private let inner: any DatabaseWriter
    private let reads = Counter()
    private let afterRead: @Sendable (_ number: Int) throws -> Void

    /// - Parameter afterRead: Called in the task of a synchronous `read` after its block, with the number of such calls so far.
    package init(_ inner: any DatabaseWriter, afterRead: @escaping @Sendable (_ number: Int) throws -> Void) {
        self.inner = inner
        self.afterRead = afterRead
    }

    package var path: String? { inner.path }

    package func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        let result = try inner.read(body)
        try afterRead(reads.add())
        return result
    }

    package func read<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        try await inner.read(body)
    }

    package func observe<Value: Sendable>(
        _ read: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Value> {
        inner.observe(read)
    }

    package func tableChanges(of tables: [TableName]?) -> TableChanges { inner.tableChanges(of: tables) }

    package func commits() -> AsyncStream<Commit> { inner.commits() }

    package func checkForForeignChanges() throws -> Bool { try inner.checkForForeignChanges() }

    package func checkForForeignChanges() async throws -> Bool { try await inner.checkForForeignChanges() }

    package func interrupt() { inner.interrupt() }

    package func close() throws { try inner.close() }

    package func close() async throws { try await inner.close() }

    package func inDatabase<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try inner.inDatabase(body)
    }

    package func inDatabase<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        try await inner.inDatabase(body)
    }

    package func rekey(_ newKey: DatabaseKey) throws { try inner.rekey(newKey) }

    package func rekey(_ newKey: DatabaseKey) async throws { try await inner.rekey(newKey) }

    package func rotateKey(of keyring: UnlockedKeyring) throws { try inner.rotateKey(of: keyring) }

    package func rotateKey(of keyring: UnlockedKeyring) async throws { try await inner.rotateKey(of: keyring) }
}
