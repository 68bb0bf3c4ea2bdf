/// The text of a piece of SQL. A literal stays where the program has it, because making a `String` of it takes longer than running a
/// short statement.
enum SQLText: Sendable {
    case literal(StaticString)
    case string(String)

    init(_ literal: StaticString) {
        // A literal of one character may be kept as a number.
        self = literal.hasPointerRepresentation ? .literal(literal) : .string(literal.description)
    }

    var string: String {
        switch self {
        case .literal(let text): text.description
        case .string(let text): text
        }
    }

    /// Hands over its bytes.
    func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        switch self {
        case .literal(let text): body(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        case .string(let text): text.withBytes(body)
        }
    }
}
