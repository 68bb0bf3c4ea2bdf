internal import CCipherSystem

extension Platform {
    /// A number of the calling thread's own, which goes up by ``countInThread()`` and which no other thread ever has.
    package static var threadCount: UInt64 { csystem_thread_count() }

    /// Adds 1 to ``threadCount``.
    package static func countInThread() { csystem_count_in_thread() }
}
