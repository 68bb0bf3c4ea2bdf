import Foundation

/// A piece of work that a process does each time it is its turn.
public struct Work {
    /// Done before each run, and not timed.
    let prepare: () throws -> Void
    let run: (inout Latencies) throws -> Int64

    /// - Parameter run: Returns a sum of what it read or wrote, the same for all sides.
    public init(prepare: @escaping () throws -> Void = {}, run: @escaping () throws -> Int64) {
        self.prepare = prepare
        self.run = { _ in try run() }
    }

    /// Operations that are timed one by one. `operation` gets their number.
    public static func each(
        _ count: Int,
        prepare: @escaping () throws -> Void = {},
        operation: @escaping (Int) throws -> Int64
    ) -> Work {
        Work(
            prepare: prepare,
            timed: { latencies in
                var sum: Int64 = 0
                for number in 0..<count { sum += try latencies.time { try operation(number) } }
                return sum
            }
        )
    }

    /// As ``each(_:prepare:operation:)``, while so many threads each write 250 times a second: the same load for all sides.
    public static func each(
        _ count: Int,
        besideWriters writers: Int,
        write: @escaping @Sendable (Int) throws -> Void,
        operation: @escaping (Int) throws -> Int64
    ) -> Work {
        Work(
            prepare: {},
            timed: { latencies in
                try withThreads(writers) { number, isOver in
                    var next = ContinuousClock.now
                    while !isOver() {
                        try write(number)
                        next += .milliseconds(4)
                        Thread.sleep(forTimeInterval: max(0, (next - .now) / .seconds(1)))
                    }
                } during: {
                    var sum: Int64 = 0
                    for number in 0..<count { sum += try latencies.time { try operation(number) } }
                    return sum
                }
            }
        )
    }

    private init(prepare: @escaping () throws -> Void, timed run: @escaping (inout Latencies) throws -> Int64) {
        self.prepare = prepare
        self.run = run
    }

    private func turn() throws -> Answer {
        try prepare()
        var latencies = Latencies()
        let peak = PeakMemory()
        let began = ContinuousClock.now
        let sum = try benchmarkTurn(run, &latencies)
        let took = (ContinuousClock.now - began) / .seconds(1)
        return Answer(
            sum: sum,
            seconds: took,
            mebibytes: peak.mebibytes ?? 0,
            median: latencies.percentile(50),
            percentile99: latencies.percentile(99)
        )
    }

    /// Takes a turn for each line on standard input, and answers each with a line.
    public func serve() throws {
        while readLine() != nil { try turn().write() }
    }
}

/// By its name Benchmarks/profile.py counts the instructions of a turn.
@inline(never)
private func benchmarkTurn(_ run: (inout Latencies) throws -> Int64, _ latencies: inout Latencies) rethrows -> Int64 {
    try run(&latencies)
}
