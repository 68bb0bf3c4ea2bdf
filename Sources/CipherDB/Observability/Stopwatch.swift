#if Logging || Metrics
    internal import Dispatch
#endif

/// How long something took. Without the traits that report it, no clock is read.
struct Stopwatch {
    #if Logging || Metrics
        private let begin = DispatchTime.now().uptimeNanoseconds

        /// Since it was made.
        var nanoseconds: Int64 { Int64(clamping: DispatchTime.now().uptimeNanoseconds - begin) }
    #endif
}
