/// What a subclass of ``FMDatabase`` says whose databases a queue or pool makes: `databaseClass()` names it, and this initialiser makes it.
/// A subclass without initialisers of its own has it already.
public protocol FMDatabaseClass: FMDatabase {
    /// A database that is not opened yet.
    init(path: String?)
}
