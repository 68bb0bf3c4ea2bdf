/// The page that SQLite never uses, because its locks are there.
package enum LockBytePage {
    /// > The lock-byte page is the single page of the database file that contains the bytes at offsets between 1073741824 and 1073742335
    /// (sqlite.org/fileformat.html, section 1.5). It stays as the file system made it.
    package static func isPage(_ number: UInt32, ofSize pageSize: Int) -> Bool {
        Int64(number - 1) * Int64(pageSize) == 1 << 30
    }
}
