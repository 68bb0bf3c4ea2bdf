/// A value with a secret in it: `print`, `debugPrint` and `dump` show its description, which has none.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows the description only.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
