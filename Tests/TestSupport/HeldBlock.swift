import Foundation

/// A block of a queue or a pool that runs on a thread of its own until it is let go.
package final class HeldBlock: Sendable {
    private let begun = Gate()
    private let release = Gate()
    private let ended = Gate()

    /// Returns when the block runs.
    ///
    /// - Parameter use: Runs a block that calls its argument, which returns when the block is let go.
    package init(_ use: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) async throws {
        Thread { [begun, release, ended] in
            use {
                begun.open()
                release.wait()
            }
            ended.open()
        }.start()
        try await begun.waited()
    }

    package func letGo() { release.open() }

    /// Returns when the block has ended.
    package func end() async throws {
        letGo()
        try await ended.waited()
    }
}
