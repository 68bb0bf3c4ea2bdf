import CipherDB
import TestSupport

/// What the engine leaves of decrypted pages in memory that it gave back.
enum EngineMemory {
    private static let piece = "q7w#"
    private static let piecesOfRow = 300
    /// How often the 12 pieces that are searched for are found in one row. Less was left twice; see SECURITY.md.
    static let placesInRow = piecesOfRow - 12 + 1

    /// How often a text of a database that was open is found. Only the engine ever had the text: SQL puts it together.
    static func pagesLeft() throws -> Int {
        let directory = try TemporaryDirectory()
        func use() throws {
            let queue = try DatabaseQueue(path: directory.file("test.db"), key: .sample("k"))
            try queue.inDatabase { database in
                try database.executeStatements("CREATE TABLE t (a)")
                for _ in 0..<50 {
                    try database.executeUpdate(
                        "INSERT INTO t VALUES (replace(hex(zeroblob(\(piecesOfRow))), '00', \(piece)))"
                    )
                }
            }
            try queue.close()
            let again = try DatabaseQueue(path: directory.file("test.db"), key: .sample("k"))
            try again.inDatabase { _ = try $0.int(forQuery: "SELECT count(*) FROM t WHERE a LIKE '%#'") }
            try again.close()
        }
        try use()
        let mask: UInt8 = 0x5A
        let needle = (0..<16).flatMap { _ in piece.utf8.map { $0 ^ mask } }
        return try MemoryScan.count([needle], mask: mask)[0]
    }
}
