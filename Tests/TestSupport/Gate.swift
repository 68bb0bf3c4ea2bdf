import Foundation
import Synchronization

/// Lets one side wait until the other says that it is there.
public final class Gate: Sendable {
    private let isOpen = Atomic(false)

    public init() {}

    public func open() { isOpen.store(true, ordering: .releasing) }

    /// Waits, holding up the thread.
    public func wait() {
        while !isOpen.load(ordering: .acquiring) { Thread.sleep(forTimeInterval: 0.001) }
    }

    /// Waits without holding up a thread.
    public func waited() async throws {
        while !isOpen.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(1)) }
    }
}
