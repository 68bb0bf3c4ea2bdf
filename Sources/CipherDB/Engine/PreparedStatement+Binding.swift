internal import CSQLCipher
internal import CipherKeys
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

/// Where short texts and blobs stand while a statement runs that they are bound to.
///
/// The engine would take memory for a copy of each, which takes longer than binding it. They stay where they are until the
/// statement gives its values up, so that the engine need not copy them.
struct BindingBuffer {
    /// Longer values, and what finds no room, the engine copies.
    static let size = 1024

    private var bytes: UnsafeMutableRawBufferPointer?
    private var used = 0
    /// How much of it held values since it was wiped.
    private var written = 0
    /// Also values that did not need, or find, room here.
    var hasBoundValues = false

    /// A copy of `value` that stays until ``wipe()``; nil where there is no room.
    mutating func keep(_ value: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard value.count <= BindingBuffer.size - used else { return nil }
        let bytes = self.bytes ?? .allocate(byteCount: BindingBuffer.size, alignment: 16)
        self.bytes = bytes
        let place = bytes.baseAddress! + used
        place.copyMemory(from: value.baseAddress!, byteCount: value.count)
        used += value.count
        return UnsafeRawPointer(place)
    }

    /// Makes room for other values of the same parameters. The statement must not run before each is bound.
    mutating func reuse() {
        written = max(written, used)
        used = 0
    }

    /// Forgets the values, which may be secret. Nothing may be bound to them any more.
    mutating func wipe() {
        hasBoundValues = false
        reuse()
        guard written > 0 else { return }
        if let bytes { Cryptography.cleanse(UnsafeMutableRawBufferPointer(rebasing: bytes[..<written])) }
        written = 0
    }

    func deallocate() {
        bytes?.deallocate()
    }
}

extension String {
    /// Hands over its bytes in UTF-8, without a copy where it has them so.
    @inline(__always) func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return try copy.withUTF8(body)
    }

    /// Whether these are its bytes, as they must be for SQL: to Swift an é of one and of two scalars are equal.
    func hasBytes(_ others: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == others.count else { return false }
        return withBytes { csqlcipher_same($0.baseAddress, others.baseAddress, UInt(others.count)) != 0 }
    }
}
