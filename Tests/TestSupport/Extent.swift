import Foundation
package import Testing

/// How much of what a test could enumerate it does enumerate. Documentation/Testing.md lists what `make test` leaves to
/// `make torture`.
package enum Extent {
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether everything is enumerated, on each engine, as `CIPHERDB_COMPLETE=1` asks.
    package static let isComplete = environment["CIPHERDB_COMPLETE"] == "1"

    /// The cases that this run is for. `make test` divides costly enumerations among its engines: with `CIPHERDB_SHARE=1/3`
    /// this is the second engine of three, and takes the second of each three cases.
    package static func share<Case>(_ cases: [Case]) -> [Case] {
        guard !isComplete else { return cases }
        return cases.indices.filter { $0 % part.count == part.number }.map { cases[$0] }
    }

    /// How many of `count` random cases this run is for, at least one.
    package static func share(of count: Int) -> Int {
        isComplete ? count : (count + part.count - 1) / part.count
    }

    /// Which engine of how many this is; the first is the newest.
    private static let part: (number: Int, count: Int) = {
        let numbers = (environment["CIPHERDB_SHARE"] ?? "0/1").split(separator: "/").compactMap { Int($0) }
        guard numbers.count == 2, (0..<numbers[1]).contains(numbers[0]) else {
            preconditionFailure("CIPHERDB_SHARE is not a share such as 0/2")
        }
        return (numbers[0], numbers[1])
    }()

    /// After so many minutes a test that waits has failed. A test's time begins before a thread is free for it, so that this is
    /// longer than a whole run, unless few tests run.
    package static let minutesOfAHang = environment["CIPHERDB_HANG_MINUTES"].flatMap { Int($0) } ?? 30

    package static var isNewestEngine: Bool { isComplete || part.number == 0 }

    package static var isAnEndOfTheMatrix: Bool {
        isComplete || part.number == 0 || part.number == part.count - 1
    }

    /// Whether slow tests are left out, as `make check` does.
    package static let isQuick = environment["CIPHERDB_QUICK"] == "1"

    /// The pairs of two lists, in an order in which each share has members of both.
    package static func pairs<First, Second>(_ first: [First], _ second: [Second]) -> [(First, Second)] {
        second.indices.flatMap { shift in
            first.indices.map { (first[($0 + shift) % first.count], second[shift]) }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Of code that no engine takes part in: `make test` runs it on the newest engine, `make torture` on each.
    package static var once: ConditionTrait {
        .enabled(if: Extent.isNewestEngine, "independent of the engine, tried on the newest only")
    }

    /// Of code that is the same on every engine, as of files: `make test` runs it on the oldest and the newest.
    package static var atTheEnds: ConditionTrait {
        .enabled(if: Extent.isAnEndOfTheMatrix, "independent of the engine, tried on the oldest and the newest only")
    }

    /// Of a test that takes seconds: processes that are killed or traced, load, damage, many derivations.
    package static var slow: ConditionTrait { .disabled(if: Extent.isQuick, "slow: make test runs it") }
}
