import Foundation

/// How often a test tries its luck, from which seed, and for how long at most: a little in `make test`, and in `make torture` as
/// much as that says.
package struct RandomTrials {
    /// Chooses the same way again where `CIPHERDB_SEED` is what was printed.
    package let seed: UInt64
    package var random: SplitMix
    /// How many rounds it is to be.
    package let rounds: Int
    private let what: String
    private var begun = 0
    private let end: ContinuousClock.Instant?

    /// - Parameters:
    ///   - what: What is printed of it.
    ///   - variable: The environment variable that has the number of rounds.
    ///   - rounds: How many it is where that is not set.
    package init(_ what: String, _ variable: String, rounds: Int) {
        let environment = ProcessInfo.processInfo.environment
        self.what = what
        self.rounds = environment[variable].flatMap { Int($0) } ?? rounds
        seed = environment["CIPHERDB_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        end = environment["CIPHERDB_CASE_SECONDS"].flatMap { Double($0) }.map { .now + .seconds($0) }
        random = SplitMix(seed)
        print("\(what): up to \(self.rounds), CIPHERDB_SEED=\(seed)")
    }

    /// Whether there is another round. Says how many there were where `CIPHERDB_CASE_SECONDS` are over first.
    package mutating func goesOn() -> Bool {
        guard begun < rounds else { return false }
        if let end, begun > 0, .now > end {
            print("\(what): the time is over after \(begun) of \(rounds)")
            return false
        }
        begun += 1
        return true
    }
}
