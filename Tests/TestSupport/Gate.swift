internal import CipherSystem
import Foundation

/// Lets one side wait until the other says that it is there.
package final class Gate: Sendable {
    private let isOpen = Atomic(false)

    package init() {}

    package func open() { isOpen.store(true, ordering: .releasing) }

    package var passed: Bool { isOpen.load(ordering: .acquiring) }

    /// Waits, blocking the thread.
    package func wait() {
        while !isOpen.load(ordering: .acquiring) { Thread.sleep(forTimeInterval: 0.001) }
    }

    /// Waits without blocking a thread.
    package func waited() async throws {
        while !isOpen.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(1)) }
    }
}
