internal import CSQLCipher
internal import SQLiteFormat

/// Binding; parameters are counted from 1.
extension PreparedStatement {
    func bindNull(at index: Int) throws(DatabaseError) {
        try bound(sqlite3_bind_null(try live(), Int32(index)))
    }

    func bind(_ value: Int64, at index: Int) throws(DatabaseError) {
        try bound(sqlite3_bind_int64(try live(), Int32(index), value))
    }

    func bind(_ value: Double, at index: Int) throws(DatabaseError) {
        try bound(sqlite3_bind_double(try live(), Int32(index), value))
    }

    func bind(_ value: String, at index: Int) throws(DatabaseError) {
        let handle = try live()
        try bound(value.withBytes { bind(utf8: UnsafeRawBufferPointer($0), at: index, handle) })
    }

    /// Binds bytes that are UTF-8.
    func bind(utf8: UnsafeRawBufferPointer, at index: Int) throws(DatabaseError) {
        try bound(bind(utf8: utf8, at: index, try live()))
    }

    private func bind(utf8 bytes: UnsafeRawBufferPointer, at index: Int, _ handle: OpaquePointer) -> Int32 {
        // A null pointer would bind NULL instead of an empty text.
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return sqlite3_bind_text(handle, Int32(index), "", 0, nil)
        }
        let kept = keep(bytes)
        // The length is given, so a NUL inside the text is a character like any other.
        return sqlite3_bind_text64(
            handle,
            Int32(index),
            (kept ?? start).assumingMemoryBound(to: CChar.self),
            UInt64(bytes.count),
            kept == nil ? csqlcipher_transient() : nil,
            UInt8(SQLITE_UTF8)
        )
    }

    func bind(blob bytes: UnsafeRawBufferPointer, at index: Int) throws(DatabaseError) {
        let handle = try live()
        // A null pointer would bind NULL instead of a blob without bytes.
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return try bound(sqlite3_bind_zeroblob(handle, Int32(index), 0))
        }
        let kept = keep(bytes)
        try bound(
            sqlite3_bind_blob64(
                handle,
                Int32(index),
                kept ?? start,
                UInt64(bytes.count),
                kept == nil ? csqlcipher_transient() : nil
            )
        )
    }

    /// Binds text that is not copied; it must stay until the statement has run.
    func bind(secret bytes: UnsafeRawBufferPointer, at index: Int) throws(DatabaseError) {
        if bytes.isEmpty { return try bind("", at: index) }
        let handle = try live()
        let code = bytes.withMemoryRebound(to: CChar.self) { text in
            sqlite3_bind_text64(handle, Int32(index), text.baseAddress, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
        }
        try bound(code, of: nil)
    }

    /// Binds text as it stands in a file, also such as is not valid.
    func bind(text bytes: UnsafeRawBufferPointer, _ encoding: TextEncoding, at index: Int) throws(DatabaseError) {
        if bytes.isEmpty { return try bind("", at: index) }
        let handle = try live()
        let code = bytes.withMemoryRebound(to: CChar.self) { text in
            sqlite3_bind_text64(
                handle,
                Int32(index),
                text.baseAddress,
                UInt64(text.count),
                csqlcipher_transient(),
                UInt8(encoding.rawValue)
            )
        }
        try bound(code)
    }

    private func bound(_ code: Int32) throws(DatabaseError) {
        try bound(code, of: sql)
    }
}

extension PreparedStatement {
    /// Remembers that there are values, and throws where one could not be bound.
    func bound(_ code: Int32, of sql: String?) throws(DatabaseError) {
        buffer.hasBoundValues = true
        guard code != SQLITE_OK else { return }
        throw connection.error(code, sql: sql)
    }

    /// A copy of a value that stays as long as it is bound; nil where there is no room for it.
    func keep(_ value: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        buffer.keep(value)
    }

    /// Forgets the values of a row, and makes room for those of the next one. What is in the buffer is wiped at the end.
    func reuseBindings() {
        sqlite3_clear_bindings(handle)
        buffer.reuse()
    }

    /// Forgets the bound values, which may be secret.
    func clearBindings() {
        guard buffer.hasBoundValues, let handle else { return }
        sqlite3_clear_bindings(handle)
        buffer.wipe()
    }
}
