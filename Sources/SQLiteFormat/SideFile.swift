/// The files that SQLite keeps beside a database in use: the database's name and a suffix (sqlite.org/tempfiles.html).
package enum SideFile: String, CaseIterable {
    case rollbackJournal = "-journal"
    case writeAheadLog = "-wal"
    /// Of the write-ahead log: its index, and the locks of its users.
    case sharedMemory = "-shm"

    package func path(of database: String) -> String { database + rawValue }
}
