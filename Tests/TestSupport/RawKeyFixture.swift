public import CipherDB
package import CipherKeys

/// What a suite about one encrypted file begins with: a directory, a path in it, and a raw key, which costs no derivation.
open class RawKeyFixture {
    package let directory: TemporaryDirectory
    package let path: String
    package let key: DatabaseKey

    package init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .random()
    }

    /// The database, opened with the key.
    open func open(
        _ path: String? = nil,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> Database {
        let database = Database(path: path ?? self.path, configuration: Configuration(change))
        try database.open(key: key)
        return database
    }
}
