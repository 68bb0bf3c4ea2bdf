extension DatabaseError {
    /// Whether a statement sets or gives a key, so that it is repeated nowhere.
    ///
    /// ATTACH and VACUUM INTO name files, and SQLCipher takes a key from a file's name. By bytes, because each statement that is
    /// compiled is asked about: SQLite's own words have ASCII letters only.
    static func mayHoldKey(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { sql in
            var hasVacuum = false
            var hasInto = false
            var hasPragma = false
            var hasKey = false
            for (index, byte) in sql.enumerated() {
                switch byte | 0x20 {
                case UInt8(ascii: "a") where has("attach", sql, at: index): return true
                case UInt8(ascii: "v"): hasVacuum = hasVacuum || has("vacuum", sql, at: index)
                case UInt8(ascii: "i"): hasInto = hasInto || has("into", sql, at: index)
                case UInt8(ascii: "p"): hasPragma = hasPragma || has("pragma", sql, at: index)
                case UInt8(ascii: "k"):
                    // The pragmas of foreign keys have none.
                    hasKey =
                        hasKey
                        || (has("key", sql, at: index) && !(index >= 8 && has("foreign_", sql, at: index - 8)))
                default: break
                }
            }
            return hasVacuum && hasInto || hasPragma && hasKey
        }
    }

    /// Whether `word`, in lower case, stands at `index` in letters of either case.
    private static func has(_ word: StaticString, _ sql: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        guard sql.count - index >= word.utf8CodeUnitCount else { return false }
        for offset in 0..<word.utf8CodeUnitCount {
            let byte = sql[index + offset]
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            guard lower == word.utf8Start[offset] else { return false }
        }
        return true
    }
}
