/// One way to do a piece of work.
struct Side {
    let name: String
    /// Done before each run, and not timed.
    var prepare: () throws -> Void = {}
    /// Returns a sum of what was read or written, the same for all sides.
    let run: () throws -> Int64
}

/// A piece of work that several sides do, the first of which the others are measured by.
struct Workload {
    let name: String
    /// How many rows, queries or the like one run is.
    let count: Int
    let unit: String
    /// The most that a side may take of the first one's time.
    var goals: [String: Double] = [:]
    let sides: [Side]
}

/// What the sides took, in seconds, one number for each round.
struct Measurement {
    let workload: Workload
    let seconds: [[Double]]
    /// The most memory in mebibytes that each side took more than there was before; that of another process is not in it.
    let memory: [Double]

    /// Each side runs in each round, and each round begins with another side.
    init(_ workload: Workload, rounds: Int) throws {
        self.workload = workload
        var seconds = workload.sides.map { _ in [Double]() }
        var memory = workload.sides.map { _ in 0.0 }
        var expected: Int64?
        // The first round warms what there is to warm, and does not count.
        for round in 0..<(rounds + 1) {
            for offset in workload.sides.indices {
                let index = (offset + round) % workload.sides.count
                let side = workload.sides[index]
                try side.prepare()
                let peak = PeakMemory()
                let began = ContinuousClock.now
                let sum = try side.run()
                let took = (ContinuousClock.now - began) / .seconds(1)
                memory[index] = max(memory[index], peak.mebibytes ?? 0)
                guard sum == expected ?? sum else { throw Mismatch(workload: workload.name, side: side.name) }
                expected = sum
                if round > 0 { seconds[index].append(took) }
            }
        }
        self.seconds = seconds
        self.memory = memory
    }

    /// Two sides did not do the same.
    struct Mismatch: Error {
        let workload: String
        let side: String
    }

    func median(_ side: Int) -> Double { Measurement.median(seconds[side]) }

    /// The median of the ratios within the rounds, which what slows the machine down for a while cancels out of.
    func ratio(_ side: Int) -> Double {
        Measurement.median(zip(seconds[side], seconds[0]).map { $0 / $1 })
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
