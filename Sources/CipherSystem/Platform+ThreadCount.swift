internal import CCipherSystem

extension Platform {
    /// A number of the calling thread's own, which begins at 0 and goes up by ``countInThread()``.
    package static var threadCount: Int { csystem_thread_count() }

    /// Adds 1 to ``threadCount``.
    package static func countInThread() { csystem_count_in_thread() }
}
