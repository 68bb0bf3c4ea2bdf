import ArgumentParser
internal import CipherSystem
import Rekeying

/// Which generations of a repository are kept.
struct KeepOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Keep so many of the newest.", valueName: "count"))
    var keep: Int?
    @Option(
        help: ArgumentHelp("Keep those that are not older, such as 12h or 30d.", valueName: "age"),
        transform: KeepOptions.age
    )
    var keepWithin: Duration?
    @Option(help: ArgumentHelp("Keep the newest of each day, for so many days.", valueName: "count"))
    var keepDaily: Int?

    func validate() throws {
        for (name, count) in [("--keep", keep), ("--keep-daily", keepDaily)] where count ?? 1 < 1 {
            throw ValidationError("\(name): give a number from 1.")
        }
    }

    /// Nil where no option says what to keep.
    var policy: RetentionPolicy? {
        guard keep != nil || keepWithin != nil || keepDaily != nil else { return nil }
        return RetentionPolicy(newest: keep, age: keepWithin, days: keepDaily)
    }

    /// A number and a unit: minutes, hours or days.
    static func age(_ text: String) throws -> Duration {
        let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...1_000_000).contains(count)
        else {
            throw ValidationError("\(text) is no age such as 90m, 12h or 30d.")
        }
        return .seconds(count * unit)
    }

    /// For people.
    static func text(_ done: PruneResult) -> String {
        "\(done.removed.count.counted("generation")), \(done.removedSegments.counted("segment"))"
    }
}
