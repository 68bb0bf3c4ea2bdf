public import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An error whose `localizedDescription`, which programs show, is its description.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// As `description`.
    public var errorDescription: String? { description }
    // So that a file with an error of its own need not import Foundation.
    /// Nothing: the description has all.
    public var failureReason: String? { nil }
    /// Nothing: the description has all.
    public var recoverySuggestion: String? { nil }
    /// Nothing: there is no help book.
    public var helpAnchor: String? { nil }
}

extension OpenSSLError: DescribedError {}
extension UsedAfterFork: DescribedError {}

/// An error with a code, the path it is about, and what comes with the code as properties.
///
/// `catch KeyringError.wrongSecret` matches each ``KeyringError`` with the code `wrongSecret`; `error.code` is compared or
/// switched over. Two errors are equal where their codes, paths and sentences are.
@dynamicMemberLookup
public protocol CodedError: DescribedError, Equatable, Sendable {
    /// The cause.
    var code: ErrorCode<Self> { get }
    /// The path of the file, as it was given; empty where none is known.
    var path: String { get }
    /// What else is known, which ends the sentence; nil where nothing is.
    var detail: String? { get }
}

extension CodedError {
    /// The path, and a sentence with the cause and what can be done.
    public var description: String { (path.isEmpty ? "" : "\(path): ") + sentence }
    /// The description without the path.
    package var sentence: String { code.sentence(self) + (detail.map { "; \($0)" } ?? "") }
    /// The name of the code, of an error of any type.
    package var codeName: String { code.rawValue }
    /// Nothing.
    public var detail: String? { nil }

    /// Whether code, path and sentence are the same.
    public static func == (first: Self, second: Self) -> Bool {
        first.code == second.code && first.description == second.description
    }

    /// The codes by their names: `catch KeyError.wrongKey`.
    public static subscript(dynamicMember code: KeyPath<ErrorCode<Self>.Type, ErrorCode<Self>>) -> ErrorCode<Self> {
        ErrorCode<Self>.self[keyPath: code]
    }
}

/// A cause of errors of one type: a name and a sentence. Each is declared in one place; no list has all of them.
public struct ErrorCode<Failure: CodedError>: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, which `rekey --json` has as `error`.
    public let rawValue: String
    fileprivate let sentence: @Sendable (Failure) -> String

    /// In the static property whose name it has. A computed one, which the compiler asks for in a generic type: a key path to a static `let`
    /// of another module crashes in debug builds of Swift 6.3.
    package init(name: String = #function, _ sentence: @escaping @Sendable (Failure) -> String) {
        rawValue = name
        self.sentence = sentence
    }

    /// With the same sentence for each error.
    package init(_ sentence: String, name: String = #function) {
        self.init(name: name) { _ in sentence }
    }

    /// The name.
    public var description: String { rawValue }

    /// Whether both have one name.
    public static func == (first: Self, second: Self) -> Bool { first.rawValue == second.rawValue }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// Whether the error has the code, as a `switch` asks.
    public static func ~= (code: Self, error: Failure) -> Bool { error.code == code }

    // Where the type of the error is known, `.exists` is a code of that type only.
    /// Whether an error of any type is of this one and has the code, as a `catch` asks.
    @_disfavoredOverload
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? Failure)?.code == code }
}

extension DefaultStringInterpolation {
    /// A property that the errors of a code have.
    package mutating func appendInterpolation<Value>(given value: Value?) {
        if let value { appendInterpolation(value) } else { appendLiteral("(unknown)") }
    }
}
