import CipherSystem
import TestSupport
import Testing

@testable import ForkedUses

/// What a child of `fork()` and `daemon()` can do with what its parent made: nothing. The program forks for each use, compares all files, and
/// opens them with the owner's keys.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct ForkTests {
    /// Off the threads of Swift's pool, which other tests need to end.
    private static func run(_ arguments: [String]) async throws -> Program.Outcome {
        try await SerialWorker.once { try Program.run(Program.built("ForkedUses"), arguments) }
    }

    @Test(arguments: Way.allCases)
    func usesAfterForkAreRefused(way: Way) async throws {
        let outcome = try await Self.run([way.rawValue])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        // Not the lists themselves, whose other lines would fill pages.
        #expect(Set(lines).symmetricDifference(Use.all.map(\.line)) == [] && lines.count == Use.all.count)
    }

    /// The system call alone runs no handlers by which it could be seen.
    @Test(arguments: [Way.fork, .daemon]) func firstAsynchronousCallNeedsThreads(way: Way) async throws {
        #expect(try await Self.run([way.rawValue, "tasks"]).output == "threads\n")
    }

    @Test(arguments: Way.allCases)
    func childWritesAtNoPointOfDatabasesLife(way: Way) async throws {
        let outcome = try await Self.run([way.rawValue, "life"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output.split(separator: "\n").map(String.init) == Life.points.map { "\($0): \(Life.refused)" }
        )
    }
}
