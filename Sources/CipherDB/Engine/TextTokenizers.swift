internal import CSQLCipher
internal import CipherSystem

typealias TokenizeBody = (String, [String]) -> [Token]

/// A tokenizer of one table, with what the table's declaration has after its name.
private final class TableTokenizer {
    private let arguments: [String]
    /// Nil until the module is known, which FTS4 says with the first text.
    var box: CallbackBox<TokenizeBody>?

    init(_ count: Int32, _ arguments: UnsafePointer<UnsafePointer<CChar>?>?, _ box: CallbackBox<TokenizeBody>?) {
        self.arguments = (0..<Int(count)).compactMap { arguments?[$0].map { String(cString: $0) } }
        self.box = box
    }

    func tokens(_ text: String) -> [Token] {
        guard let box else { return [] }
        return box.connection.inCallback { box.body(text, arguments) }
    }
}

/// The tokens of one text, returned one by one.
private final class TokenCursor {
    let tokens: [(text: [CChar], range: Range<Int>)]
    var next = 0

    init(_ start: UnsafePointer<CChar>?, _ count: Int, _ tokenizer: TableTokenizer) {
        let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        // FTS3 takes a token without bytes for an error, and would read beyond the text for a snippet.
        tokens = tokenizer.tokens(String(decoding: bytes, as: UTF8.self)).filter { !$0.text.isEmpty }.map { token in
            (Array(token.text.utf8CString.dropLast()), token.range.clamped(to: 0..<bytes.count))
        }
    }
}

/// The module of an FTS3 or FTS4 tokenizer. The engine keeps its address as long as the connection lives, and so does the
/// connection; there is no destructor callback.
final class FTS4Module {
    fileprivate let module: UnsafeMutablePointer<csqlcipher_tokenizer_module>
    fileprivate let box: CallbackBox<TokenizeBody>

    init(_ box: CallbackBox<TokenizeBody>) {
        self.box = box
        module = .allocate(capacity: 1)
        module.initialize(
            to: csqlcipher_tokenizer_module(
                base: sqlite3_tokenizer_module(
                    iVersion: 0,
                    xCreate: { count, arguments, result in
                        let tokenizer = UnsafeMutablePointer<csqlcipher_tokenizer>.allocate(capacity: 1)
                        let context = Unmanaged.passRetained(TableTokenizer(count, arguments, nil)).toOpaque()
                        tokenizer.initialize(to: csqlcipher_tokenizer(base: sqlite3_tokenizer(), context: context))
                        result?.pointee = UnsafeMutableRawPointer(tokenizer)
                            .assumingMemoryBound(to: sqlite3_tokenizer.self)
                        return SQLITE_OK
                    },
                    xDestroy: { tokenizer in
                        guard let tokenizer else { return SQLITE_OK }
                        let whole = UnsafeMutableRawPointer(tokenizer)
                            .assumingMemoryBound(to: csqlcipher_tokenizer.self)
                        Unmanaged<TableTokenizer>.fromOpaque(whole.pointee.context).release()
                        whole.deallocate()
                        return SQLITE_OK
                    },
                    xOpen: openCursor,
                    xClose: { cursor in
                        guard let cursor else { return SQLITE_OK }
                        let whole = UnsafeMutableRawPointer(cursor)
                            .assumingMemoryBound(to: csqlcipher_tokenizer_cursor.self)
                        Unmanaged<TokenCursor>.fromOpaque(whole.pointee.context).release()
                        whole.deallocate()
                        return SQLITE_OK
                    },
                    xNext: nextToken,
                    xLanguageid: nil
                ),
                context: Unmanaged.passUnretained(self).toOpaque()
            )
        )
    }

    deinit {
        module.deallocate()
    }
}

private func openCursor(
    _ tokenizer: UnsafeMutablePointer<sqlite3_tokenizer>?,
    _ input: UnsafePointer<CChar>?,
    _ bytes: Int32,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_tokenizer_cursor>?>?
) -> Int32 {
    guard let tokenizer, let base = tokenizer.pointee.pModule else { return SQLITE_ERROR }
    let module = UnsafeRawPointer(base).assumingMemoryBound(to: csqlcipher_tokenizer_module.self)
    let whole = UnsafeRawPointer(tokenizer).assumingMemoryBound(to: csqlcipher_tokenizer.self)
    let ofTable = Unmanaged<TableTokenizer>.fromOpaque(whole.pointee.context).takeUnretainedValue()
    if ofTable.box == nil {
        ofTable.box = Unmanaged<FTS4Module>.fromOpaque(module.pointee.context).takeUnretainedValue().box
    }
    // A negative length means up to the NUL.
    let count = bytes >= 0 ? Int(bytes) : input.map { String(cString: $0).utf8.count } ?? 0
    let cursor = UnsafeMutablePointer<csqlcipher_tokenizer_cursor>.allocate(capacity: 1)
    cursor.initialize(
        to: csqlcipher_tokenizer_cursor(
            base: sqlite3_tokenizer_cursor(pTokenizer: tokenizer),
            context: Unmanaged.passRetained(TokenCursor(input, count, ofTable)).toOpaque()
        )
    )
    result?.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: sqlite3_tokenizer_cursor.self)
    return SQLITE_OK
}

private func nextToken(
    _ cursor: UnsafeMutablePointer<sqlite3_tokenizer_cursor>?,
    _ text: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
    _ bytes: UnsafeMutablePointer<Int32>?,
    _ start: UnsafeMutablePointer<Int32>?,
    _ end: UnsafeMutablePointer<Int32>?,
    _ position: UnsafeMutablePointer<Int32>?
) -> Int32 {
    guard let cursor else { return SQLITE_DONE }
    let context = UnsafeRawPointer(cursor).assumingMemoryBound(to: csqlcipher_tokenizer_cursor.self).pointee.context
    guard let context else { return SQLITE_DONE }
    let tokens = Unmanaged<TokenCursor>.fromOpaque(context).takeUnretainedValue()
    guard tokens.next < tokens.tokens.count else { return SQLITE_DONE }
    let token = tokens.tokens[tokens.next]
    // Good until the cursor closes, which is longer than asked for: the array is never changed.
    text?.pointee = token.text.withUnsafeBufferPointer { $0.baseAddress }
    bytes?.pointee = Int32(token.text.count)
    start?.pointee = Int32(token.range.lowerBound)
    end?.pointee = Int32(token.range.upperBound)
    position?.pointee = Int32(tokens.next)
    tokens.next += 1
    return SQLITE_OK
}

extension Connection {
    func createFTS4Tokenizer(_ name: String, _ tokenize: @escaping TokenizeBody) throws {
        let module = FTS4Module(CallbackBox(tokenize, self))
        tokenizers.append(module)
        try unrestricted {
            try check(csqlcipher_enable_fts3_tokenizer(handle, 1))
            defer { _ = csqlcipher_enable_fts3_tokenizer(handle, 0) }
            guard let (statement, _) = try prepare("SELECT fts3_tokenizer(?, ?)") else { return }
            defer { statement.finalize() }
            try statement.bind(name, at: 1)
            // The function takes the module's address as a blob.
            try withUnsafeBytes(of: module.module) { try statement.bind(blob: $0, at: 2) }
            _ = try statement.step()
        }
    }

    func createFTS5Tokenizer(_ name: String, _ tokenize: @escaping TokenizeBody) throws(DatabaseError) {
        guard let api = csqlcipher_fts5(handle) else {
            throw DatabaseError(.error, "the engine does not provide the interface of FTS5")
        }
        var functions = fts5_tokenizer(
            xCreate: { context, arguments, count, result in
                guard let context else { return SQLITE_ERROR }
                let tokenizer = TableTokenizer(count, UnsafePointer(arguments), .at(context))
                result?.pointee = OpaquePointer(Unmanaged.passRetained(tokenizer).toOpaque())
                return SQLITE_OK
            },
            xDelete: { tokenizer in
                if let tokenizer { Unmanaged<TableTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer)).release() }
            },
            xTokenize: { tokenizer, context, _, input, count, emit in
                guard let tokenizer, let emit else { return SQLITE_ERROR }
                let ofTable = Unmanaged<TableTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer)).takeUnretainedValue()
                for token in TokenCursor(input, Int(count), ofTable).tokens {
                    let code = token.text.withUnsafeBufferPointer {
                        emit(
                            context,
                            0,
                            $0.baseAddress,
                            Int32($0.count),
                            Int32(token.range.lowerBound),
                            Int32(token.range.upperBound)
                        )
                    }
                    if code != SQLITE_OK { return code }
                }
                return SQLITE_OK
            }
        )
        let box = Unmanaged.passRetained(CallbackBox(tokenize, self)).toOpaque()
        let code = api.pointee.xCreateTokenizer(api, name, box, &functions, releaseBox)
        // Without memory for it the engine does not call the destructor.
        if code != SQLITE_OK { releaseBox(box) }
        try check(code)
    }
}
