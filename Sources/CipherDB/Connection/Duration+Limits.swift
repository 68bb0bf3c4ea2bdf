internal import Dispatch

extension Duration {
    /// Three weeks are the most that SQLite's 32 bits hold.
    var boundedMilliseconds: Int { Int(max(.zero, min(self, .seconds(2_000_000))) / .milliseconds(1)) }

    /// For Dispatch, which counts nanoseconds in 64 bits.
    var dispatched: DispatchTimeInterval {
        .milliseconds(Int(max(.zero, min(self, .seconds(1_000_000))) / .milliseconds(1)))
    }
}
