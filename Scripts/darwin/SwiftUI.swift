// What the example of an app uses of SwiftUI, by its documented declarations; nothing here runs.
@_exported import Foundation

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: View {
    public typealias Body = Never
    public var body: Never { fatalError() }
}
@resultBuilder public struct ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { fatalError() }
}
public struct Text: View {
    nonisolated public init<S: StringProtocol>(_ content: S) { fatalError() }
    public var body: Never { fatalError() }
}
@MainActor @preconcurrency public struct List<Content: View>: View {
    nonisolated public init<Data: RandomAccessCollection, ID: Hashable>(
        _ data: Data,
        id: KeyPath<Data.Element, ID>,
        @ViewBuilder rowContent: @escaping (Data.Element) -> Content
    ) { fatalError() }
    public var body: Never { fatalError() }
}
@frozen @propertyWrapper public struct State<Value> {
    public init(wrappedValue value: Value) { fatalError() }
    public var wrappedValue: Value { get { fatalError() } nonmutating set { fatalError() } }
}
@frozen @propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
    public var wrappedValue: Value { fatalError() }
}
public struct EnvironmentValues { public var scenePhase: ScenePhase { fatalError() } }
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }
extension View {
    public func task(priority: TaskPriority = .userInitiated, _ action: sending @escaping @isolated(any) () async -> Void)
        -> some View
    { self }
    public func onChange<V: Equatable>(
        of value: V,
        initial: Bool = false,
        _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
    ) -> some View { self }
}
