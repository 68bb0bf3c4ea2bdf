/// An error about a file, which is compared by its cause: `catch KeyError.wrongKey`, `error == .wrongKey`.
public protocol ErrorWithPath: Error, Equatable {
    /// What is distinguished.
    associatedtype Problem: Equatable

    /// The path of the file; empty in a value to compare with.
    var path: String { get }
    /// The cause.
    var problem: Problem { get }
}

extension ErrorWithPath {
    /// Whether the cause is the same; the path is not compared.
    public static func == (first: Self, second: Self) -> Bool { first.problem == second.problem }

    /// Whether an error of any type is one of this type with the same cause, as a `catch` with a value asks.
    public static func ~= (pattern: Self, error: any Error) -> Bool { error as? Self == pattern }
}
