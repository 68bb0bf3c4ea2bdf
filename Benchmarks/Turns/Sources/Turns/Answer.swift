import Foundation

/// What a turn took.
public struct Answer: Codable {
    /// Of what was read or written.
    public let sum: Int64
    /// All of the turn.
    public let seconds: Double
    /// The most memory that the process had more than before the turn.
    public let mebibytes: Double
    /// Of the operations that were timed one by one, in seconds.
    public let median: Double?
    /// As ``median``: one in a hundred takes longer.
    public let percentile99: Double?

    /// Writes it as a line to standard output: not by print, which would wait for more.
    func write() throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(self) + Data("\n".utf8))
    }
}

/// Times of operations.
struct Latencies {
    private var nanoseconds: [Int64] = []

    @inline(__always)
    mutating func time<Result>(_ operation: () throws -> Result) rethrows -> Result {
        let began = ContinuousClock.now
        let result = try operation()
        let (seconds, attoseconds) = (ContinuousClock.now - began).components
        nanoseconds.append(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        return result
    }

    /// In seconds; nil where nothing was timed.
    func percentile(_ percent: Int) -> Double? {
        guard !nanoseconds.isEmpty else { return nil }
        return Double(nanoseconds.sorted()[(nanoseconds.count - 1) * percent / 100]) / 1e9
    }
}
