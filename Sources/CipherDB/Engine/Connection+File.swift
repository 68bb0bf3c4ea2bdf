internal import CSQLCipher

// Whether the file is still the one that was opened.
extension Connection {
    /// Whether the file's name is gone or belongs to another file since it was opened; false in memory.
    var hasMoved: Bool {
        var moved: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    /// Throws where ``hasMoved``: what is written into a file without a name is lost.
    func checkFile() throws(DatabaseError) {
        guard hasMoved else { return }
        throw DatabaseError(
            .cannotOpen,
            "\(filename): the file was removed or replaced since it was opened; close the database and open it again"
        )
    }
}
