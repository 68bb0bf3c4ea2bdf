import SQLiteFormat

/// Rollback journals that SQLite plays back.
enum MadeJournal {
    static func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// - Parameter pageCount: Pages that the database had.
    static func bytes(_ pageSize: Int, _ records: [(number: Int, image: [UInt8])], pageCount: Int) -> [UInt8] {
        let header = RollbackJournal.magic + [records.count, 5, pageCount, 512, pageSize].flatMap(bigEndian)
        return records.reduce(header + [UInt8](repeating: 0, count: 512 - header.count)) { bytes, record in
            let sum = stride(from: pageSize - 200, to: 0, by: -200).reduce(5) { $0 + Int(record.image[$1]) }
            return bytes + bigEndian(record.number) + record.image + bigEndian(sum)
        }
    }
}
