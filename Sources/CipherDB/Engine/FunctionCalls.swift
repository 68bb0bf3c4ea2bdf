internal import CSQLCipher

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A closure on its way through C. The engine owns it, and gives it up by its destructor callback.
final class CallbackBox<Body> {
    let body: Body
    /// Without keeping it alive: the connection's handle owns the box.
    unowned let connection: Connection

    init(_ body: Body, _ connection: Connection) {
        self.body = body
        self.connection = connection
    }

    static func at(_ pointer: UnsafeMutableRawPointer) -> CallbackBox {
        Unmanaged.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// Gives up what the engine owned.
func releaseBox(_ pointer: UnsafeMutableRawPointer?) {
    if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
}

typealias ScalarBody = ([DatabaseValue]) throws -> (any ColumnEncodable)?

/// The steps of an aggregate function: the state begins for each group.
struct AggregateBody {
    let begin: () -> AnyObject
    let step: (AnyObject, [DatabaseValue]) throws -> Void
    let result: (AnyObject) throws -> (any ColumnEncodable)?
}

extension Connection {
    func createFunction(
        _ name: String,
        arguments: Int32,
        deterministic: Bool,
        innocuous: Bool,
        _ body: @escaping ScalarBody
    ) throws(DatabaseError) {
        let box = Unmanaged.passRetained(CallbackBox<ScalarBody>(body, self)).toOpaque()
        // Where it fails the engine calls the destructor all the same.
        try check(
            sqlite3_create_function_v2(
                handle,
                name,
                arguments,
                SQLITE_UTF8 | (deterministic ? SQLITE_DETERMINISTIC : 0) | Connection.schemaUse(innocuous),
                box,
                { context, count, values in
                    let box = CallbackBox<ScalarBody>.at(sqlite3_user_data(context))
                    answer(context, box.connection) { try box.body(argumentValues(count, values)) }
                },
                nil,
                nil,
                releaseBox
            )
        )
        try enforceSchemaUse(of: name, arguments, innocuous)
    }

    func createAggregate(
        _ name: String,
        arguments: Int32,
        innocuous: Bool,
        _ body: AggregateBody
    ) throws(DatabaseError) {
        let box = Unmanaged.passRetained(CallbackBox<AggregateBody>(body, self)).toOpaque()
        try check(
            sqlite3_create_function_v2(
                handle,
                name,
                arguments,
                SQLITE_UTF8 | Connection.schemaUse(innocuous),
                box,
                nil,
                { context, count, values in
                    let box = CallbackBox<AggregateBody>.at(sqlite3_user_data(context))
                    guard let slot = stateSlot(context, size: MemoryLayout<UnsafeRawPointer>.size) else {
                        sqlite3_result_error_nomem(context)
                        return
                    }
                    do {
                        try box.connection.inCallback {
                            let state = slot.pointee ?? Unmanaged.passRetained(box.body.begin()).toOpaque()
                            slot.pointee = state
                            try box.body.step(
                                Unmanaged<AnyObject>.fromOpaque(state).takeUnretainedValue(),
                                argumentValues(count, values)
                            )
                        }
                    } catch {
                        fail(context, error, box.connection)
                    }
                },
                { context in
                    let box = CallbackBox<AggregateBody>.at(sqlite3_user_data(context))
                    // Called also after a failed step, to give the state up. Without a row there is no slot.
                    let slot = stateSlot(context, size: 0)
                    let state = slot?.pointee.map { Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue() }
                    slot?.pointee = nil
                    guard box.connection.callbackError == nil else { return }
                    answer(context, box.connection) { try box.body.result(state ?? box.body.begin()) }
                },
                releaseBox
            )
        )
        try enforceSchemaUse(of: name, arguments, innocuous)
    }

    func removeFunction(_ name: String, arguments: Int32) throws(DatabaseError) {
        try check(sqlite3_create_function_v2(handle, name, arguments, SQLITE_UTF8, nil, nil, nil, nil, nil))
        authorizer.setDirectOnly(name, arguments, false)
    }

    func createCollation(
        _ name: String,
        _ body: @escaping (String, String) -> ComparisonResult
    ) throws(DatabaseError) {
        typealias Body = (String, String) -> ComparisonResult
        let box = Unmanaged.passRetained(CallbackBox<Body>(body, self)).toOpaque()
        let code = sqlite3_create_collation_v2(
            handle,
            name,
            SQLITE_UTF8,
            box,
            { box, leftCount, left, rightCount, right in
                guard let box else { return 0 }
                let collation = CallbackBox<(String, String) -> ComparisonResult>.at(box)
                return collation.connection.inCallback {
                    Int32(collation.body(string(left, leftCount), string(right, rightCount)).rawValue)
                }
            },
            releaseBox
        )
        // Other than for functions, the engine does not call the destructor when this fails.
        if code != SQLITE_OK { releaseBox(box) }
        try check(code)
    }
}

private func string(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
}

/// The place where the engine keeps an aggregate's state between two calls; nil where there is none and `size` is 0.
private func stateSlot(
    _ context: OpaquePointer?,
    size: Int
) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
    sqlite3_aggregate_context(context, Int32(size))?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
}

private func argumentValues(_ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) -> [DatabaseValue] {
    (0..<Int(count)).map { DatabaseValue(values?[$0]) }
}

/// Makes what `body` returns the function's result, or what it throws the statement's error.
private func answer(
    _ context: OpaquePointer?,
    _ connection: Connection,
    _ body: () throws -> (any ColumnEncodable)?
) {
    do {
        switch try connection.inCallback(body)?.databaseValue(in: connection.storage) ?? .null {
        case .null: sqlite3_result_null(context)
        case .integer(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case .text(var value):
            value.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text64(
                        context,
                        $0.baseAddress,
                        UInt64($0.count),
                        csqlcipher_transient(),
                        UInt8(SQLITE_UTF8)
                    )
                }
            }
        case .blob(let value):
            value.withUnsafeBytes { bytes in
                // A null pointer would make NULL instead of a blob without bytes.
                if bytes.isEmpty {
                    sqlite3_result_zeroblob(context, 0)
                } else {
                    sqlite3_result_blob64(context, bytes.baseAddress, UInt64(bytes.count), csqlcipher_transient())
                }
            }
        }
    } catch {
        fail(context, error, connection)
    }
}

private func fail(_ context: OpaquePointer?, _ error: any Error, _ connection: Connection) {
    connection.callbackError = error
    // The caller of the statement gets the error itself; only C code above would see this.
    sqlite3_result_error(context, "a function failed", -1)
    let code = (error as? DatabaseError)?.code.rawValue ?? SQLITE_ERROR
    // The codes of success would be taken for it.
    let isFailure = code > 0 && ![SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code & 0xff)
    sqlite3_result_error_code(context, isFailure ? code : SQLITE_ERROR)
}

extension DatabaseValue {
    init(_ value: OpaquePointer?) {
        let stored = EngineValue(pointer: value)
        switch stored.storageClass {
        case .integer: self = .integer(stored.integer)
        case .real: self = .real(stored.real)
        case .text: self = .text(String(decoding: stored.bytes, as: UTF8.self))
        case .blob: self = .blob(stored.data)
        case .null: self = .null
        }
    }
}
