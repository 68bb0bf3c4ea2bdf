internal import CCipherSystem

extension Platform {
    /// A number of the calling thread's own, which goes up by ``countInThread()`` and which no other thread ever has.
    package static var threadCount: UInt64 { csystem_thread_count() }

    /// Adds 1 to ``threadCount``.
    package static func countInThread() { csystem_count_in_thread() }

    /// A number of the calling thread's own, which no other thread ever has, also after its end. Neither 0 nor the greatest.
    @inline(__always) package static var thread: UInt64 { csystem_thread() }

    /// Half a fence, which costs nothing: a store before it and a load after it are in order for a thread that makes the other half, by
    /// ``heavyFence()``, between a store and a load of its own.
    @inline(__always) package static func lightFence() { csystem_light_fence() }

    /// See ``lightFence()``; it interrupts each processor that runs a thread of this process.
    ///
    /// - Returns: False where the system has none.
    package static func heavyFence() -> Bool { csystem_heavy_fence() != 0 }

    /// Whether the system has a ``heavyFence()``.
    package static let hasHeavyFence = csystem_has_heavy_fence() != 0
}
