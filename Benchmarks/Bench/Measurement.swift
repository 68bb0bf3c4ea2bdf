import Turns

/// What the turns of the sides of a workload took.
struct Measurement {
    let workload: Workload
    let sides: [Side]
    /// An answer for each round, of each side.
    let answers: [[Answer]]
    /// The most memory in mebibytes that a turn of each side took more than there was before it.
    private(set) var memory: [Double]

    /// In each round each side takes its turn, and each round begins with another side.
    ///
    /// A turn is a process of its own, because where the parts of a program are in memory changes its speed: one scan
    /// takes a quarter more time in one process of six, from its first row to its last, and never without address
    /// space layout randomization.
    init(_ workload: Workload, _ only: String?, rounds: Int, command: (Side) -> [String]) throws {
        self.workload = workload
        try workload.setUp()
        sides = workload.sides.filter { $0.name == only ?? $0.name }
        var answers = sides.map { _ in [Answer]() }
        memory = sides.map { _ in 0 }
        var expected: Int64?
        for round in 0..<rounds {
            for offset in sides.indices {
                let index = (offset + round) % sides.count
                let process = try SideProcess(command(sides[index]))
                defer { process.end() }
                // The first one warms what there is to warm, and does not count.
                let turns = try [process.turn(), process.turn()]
                for sum in turns.map(\.sum) where sum != expected ?? sum {
                    throw Mismatch(workload: workload.name, side: sides[index].name)
                }
                expected = turns[0].sum
                answers[index].append(turns[1])
                memory[index] = max(memory[index], turns[0].mebibytes, turns[1].mebibytes)
            }
        }
        self.answers = answers
    }

    /// Two sides did not do the same.
    struct Mismatch: Error {
        let workload: String
        let side: String
    }

    func seconds(_ side: Int) -> [Double] { answers[side].map(\.seconds) }

    /// The median of the rounds.
    func median(_ side: Int) -> Double { Measurement.median(seconds(side)) }

    /// The median of the ratios within the rounds, which what slows the machine down for a while cancels out of.
    func ratio(_ side: Int) -> Double {
        Measurement.median(zip(seconds(side), seconds(0)).map { $0 / $1 })
    }

    /// The median of what the answers have, or nil.
    func median(_ side: Int, _ figure: (Answer) -> Double?) -> Double? {
        let all = answers[side].compactMap(figure)
        return all.isEmpty ? nil : Measurement.median(all)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
