internal import CipherDB
internal import CipherSystem
public import Foundation

/// One call of a function, behind the context pointer that its block gets.
private final class FunctionCall {
    var result: DatabaseValue = .null
    var failure: (code: ResultCode, message: String)?
}

private final class ArgumentBox {
    let value: DatabaseValue

    init(_ value: DatabaseValue) {
        self.value = value
    }
}

/// Functions written in Swift. The pointers that a block gets are good until it returns, for the functions below only.
extension FMDatabase {
    /// Makes a function that SQL can call.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - arguments: How many it takes; -1 for any number.
    ///   - isInnocuous: Whether views, triggers, defaults and indexes may call it, which FMDB always allows. Off unless set.
    ///   - block: Gets a context, the number of arguments, and the arguments.
    public func makeFunctionNamed(
        _ name: String,
        arguments: Int32,
        isInnocuous: Bool = false,
        block:
            @escaping (
                _ context: UnsafeMutableRawPointer,
                _ argc: Int32,
                _ argv: UnsafeMutablePointer<UnsafeMutableRawPointer>
            ) -> Void
    ) {
        _ = attempt {
            try database.makeLocalFunction(
                named: name,
                arguments: arguments < 0 ? nil : Int(arguments),
                isDeterministic: false,
                isInnocuous: isInnocuous
            ) { values in
                let call = FunctionCall()
                let boxes = values.map { ArgumentBox($0) }
                withExtendedLifetime((call, boxes)) {
                    let context = Unmanaged.passUnretained(call).toOpaque()
                    withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer.self, capacity: max(1, boxes.count)) {
                        // Never empty, so that a block may look at its first argument's place.
                        $0.initialize(repeating: context)
                        for (place, box) in boxes.enumerated() {
                            $0[place] = Unmanaged.passUnretained(box).toOpaque()
                        }
                        guard let start = $0.baseAddress else { return }
                        block(context, Int32(boxes.count), start)
                    }
                }
                if let failure = call.failure {
                    throw DatabaseError(code: failure.code, message: failure.message)
                }
                return call.result
            }
        }
    }

    /// How an argument is stored.
    public func valueType(_ value: UnsafeMutableRawPointer) -> SqliteValueType { SqliteValueType(argument(value)) }

    /// The argument as an integer of 32 bits; 0 for what is no number.
    public func valueInt(_ value: UnsafeMutableRawPointer) -> Int32 { Int32(truncatingIfNeeded: valueLong(value)) }

    /// The argument as an integer; 0 for what is no number.
    public func valueLong(_ value: UnsafeMutableRawPointer) -> Int64 {
        switch argument(value) {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value.rounded(.towardZero)) ?? (value > 0 ? .max : value < 0 ? .min : 0)
        case .text(let value): Int64(value.prefix { $0.isNumber || $0 == "-" }) ?? 0
        case .null, .blob: 0
        }
    }

    /// The argument as a number; 0 for what is none.
    public func valueDouble(_ value: UnsafeMutableRawPointer) -> Double {
        let value = argument(value)
        return value.doubleValue ?? value.stringValue.flatMap { Double($0) } ?? 0
    }

    /// The bytes of the argument, a blob or text; nil for NULL.
    public func valueData(_ value: UnsafeMutableRawPointer) -> Data? {
        let value = argument(value)
        return value.dataValue ?? value.stringValue.map { Data($0.utf8) }
    }

    /// The text of the argument, or a number as text; nil for NULL.
    public func valueString(_ value: UnsafeMutableRawPointer) -> String? {
        switch argument(value) {
        case .null: nil
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .blob(let value): String(utf8: value)
        }
    }

    /// Makes NULL the function's result.
    public func resultNull(context: UnsafeMutableRawPointer) { call(context).result = .null }

    /// Makes an integer the function's result.
    public func resultInt(_ value: Int32, context: UnsafeMutableRawPointer) {
        call(context).result = .integer(Int64(value))
    }

    /// Makes an integer the function's result.
    public func resultLong(_ value: Int64, context: UnsafeMutableRawPointer) { call(context).result = .integer(value) }

    /// Makes a number the function's result.
    public func resultDouble(_ value: Double, context: UnsafeMutableRawPointer) { call(context).result = .real(value) }

    /// Makes bytes the function's result, also where there are none.
    public func resultData(_ data: Data, context: UnsafeMutableRawPointer) { call(context).result = .blob(data) }

    /// Makes text the function's result.
    public func resultString(_ value: String, context: UnsafeMutableRawPointer) { call(context).result = .text(value) }

    /// Makes the statement fail with a message.
    public func resultError(_ error: String, context: UnsafeMutableRawPointer) {
        call(context).failure = (.error, error)
    }

    /// Makes the statement fail with a code; a message that was set before stays.
    public func resultErrorCode(_ errorCode: Int32, context: UnsafeMutableRawPointer) {
        let message = call(context).failure?.message ?? "error \(errorCode)"
        // A function that fails with the code of success fails all the same.
        let code = errorCode > 0 ? ResultCode(rawValue: errorCode) : .error
        call(context).failure = (code, message)
    }

    /// Makes the statement fail for want of memory.
    public func resultErrorNoMemory(context: UnsafeMutableRawPointer) {
        call(context).failure = (.outOfMemory, "out of memory")
    }

    /// Makes the statement fail because a value is too large.
    public func resultErrorTooBig(context: UnsafeMutableRawPointer) {
        call(context).failure = (.tooBig, "string or blob too big")
    }

    private func call(_ context: UnsafeMutableRawPointer) -> FunctionCall {
        Unmanaged.fromOpaque(context).takeUnretainedValue()
    }

    private func argument(_ value: UnsafeMutableRawPointer) -> DatabaseValue {
        Unmanaged<ArgumentBox>.fromOpaque(value).takeUnretainedValue().value
    }
}

/// How SQLite stores a value.
public enum SqliteValueType: Int32, Sendable {
    /// A signed 64-bit integer.
    case integer = 1
    /// A 64-bit floating-point number.
    case float = 2
    /// A string.
    case text = 3
    /// Bytes.
    case blob = 4
    /// No value.
    case null = 5

    init(_ value: DatabaseValue) {
        switch value {
        case .integer: self = .integer
        case .real: self = .float
        case .text: self = .text
        case .blob: self = .blob
        case .null: self = .null
        }
    }

    init(_ storage: StorageClass) {
        switch storage {
        case .integer: self = .integer
        case .real: self = .float
        case .text: self = .text
        case .blob: self = .blob
        case .null: self = .null
        }
    }
}
