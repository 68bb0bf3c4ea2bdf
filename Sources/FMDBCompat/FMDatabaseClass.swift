/// What a subclass of ``FMDatabase`` says whose databases a queue or pool makes: it is named by `databaseClass()`, and made by this
/// initialiser.
///
/// ```swift
/// final class Notes: FMDatabase, FMDatabaseClass {}
/// final class NotesQueue: FMDatabaseQueue, @unchecked Sendable {
///     override class func databaseClass() -> AnyClass { Notes.self }
/// }
/// ```
public protocol FMDatabaseClass: FMDatabase {
    /// A database that is not opened yet.
    init(path: String?)
}
