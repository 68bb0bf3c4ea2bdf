import ArgumentParser
internal import CipherSystem
import Foundation
import Rekeying

/// A backup that goes on.
struct FollowOptions: ParsableArguments {
    @Flag(help: "Store each change, until a signal ends it.")
    var follow = false
    @Option(help: ArgumentHelp("With --follow: look for changes so often. Default: 1.", valueName: "seconds"))
    var interval: Double?
    @Option(
        help: ArgumentHelp(
            "With --follow: also write metrics of Prometheus to this file after each look, which is replaced in one step.",
            valueName: "path"
        ),
        completion: .file()
    )
    var prometheus: String?

    func validate() throws {
        guard follow || interval == nil && prometheus == nil else {
            throw ValidationError("--interval and --prometheus need --follow.")
        }
        if prometheus == "-" { throw ValidationError("--prometheus: give a file.") }
        guard interval.map((0.01...86_400).contains) ?? true else {
            throw ValidationError("--interval: give a number from 0.01 to 86400.")
        }
    }

    /// Stores changes until a signal comes. What fails is tried again; only the first look must not fail for a cause that stays: a wrong name or
    /// key, a damaged file, an old copy of the repository.
    func run(_ file: String, _ report: Report, _ follower: BackupFollower) throws {
        let metrics = prometheus.map { MetricsFile(path: $0, firstLine: BackupMetrics.firstLine) }
        var state = BackupMetrics()
        var isNoteFailing = false
        Interruption.watch()
        while !Interruption.isWanted {
            let began = Date()
            let failed = try look(file, report) { progress in
                let isFirst = state.generation == nil
                let done = try follower.store(progress: progress.show)
                state.add(done, of: follower, began: began)
                if let warning = follower.warning { Output.tellLine(Backup.message(warning, file), clearing: true) }
                guard let done else { return nil }
                return isFirst || done.isNew ? (done, follower.lag) : nil
            }
            let isKept = keep(file, follower, &isNoteFailing)
            if failed != nil && failed != .interrupted || !isKept {
                if state.generation == nil, let failed, !failed.mayPass { throw ExitCode(failed.code) }
                state.addFailure()
            }
            try metrics?.write(state.text(of: file))
            pause(state)
        }
        _ = keep(file, follower, &isNoteFailing, isLast: true)
    }

    /// Notes and removes generations, where it is time to; false where that failed. Another run does it again.
    ///
    /// - Parameter isNoteFailing: Whether the keyring could not be written the last time either, which is said once.
    private func keep(
        _ file: String,
        _ follower: BackupFollower,
        _ isNoteFailing: inout Bool,
        isLast: Bool = false
    ) -> Bool {
        do {
            guard let done = try follower.keep(isLast: isLast) else { return true }
            if let failure = done.noteFailure, !isNoteFailing { Output.tell(Backup.message(failure, file)) }
            isNoteFailing = done.noteFailure != nil
            return true
        } catch is Interrupted {
            // The next run does it.
            return true
        } catch {
            Output.tell("rekey: \(Report.message(error, file))\n")
            return false
        }
    }

    /// One look, and the status of a failure. Prints what was stored, and nothing if nothing was.
    private func look(
        _ file: String,
        _ report: Report,
        _ body: (Progress) throws -> (BackupResult, lag: Duration?)?
    ) throws -> ExitStatus? {
        let outcome = Result { try body(Progress(isQuiet: report.quiet || report.json)) }
        if case .success(nil) = outcome { return nil }
        return try report.failures([file]) { _, _ in
            guard let (done, lag) = try outcome.get() else { throw Interrupted() }
            let generation = done.generation
            let waited = lag.map {
                ", at most \(($0 / .seconds(1)).formatted(.number.precision(.fractionLength(1)))) s after the commit"
            }
            for warning in done.warnings { Output.tellLine(Backup.message(warning, file), clearing: true) }
            let line =
                "generation \(generation.number): \(done.isNew ? generation.storedSize : 0) bytes stored\(waited ?? "")"
            return Report.Result(BackupObject(done), line: line, status: .done)
        }
        .first
    }

    private func pause(_ state: BackupMetrics) {
        let end = ContinuousClock.now + state.pause(.seconds(interval ?? 1))
        while !Interruption.isWanted, .now < end { Platform.sleep(milliseconds: 10) }
    }
}

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
        "\(done.removed.count.counted("generation")), \(done.removedSegments.counted("segment")), \(done.removedSize.counted("byte")) freed"
    }
}
