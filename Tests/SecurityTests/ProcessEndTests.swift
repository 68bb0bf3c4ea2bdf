import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherDB

private enum LongCall {
    // It holds because it is set before the process ends, and read then.
    nonisolated(unsafe) static var exitBegan = ContinuousClock.now
    /// How many rows it has counted.
    static let rows = Atomic(0)
}

private enum ClosedByHandler {
    // It holds because it is set before the process ends, and read then.
    nonisolated(unsafe) static var queue: DatabaseQueue?
}

/// How a process ends that uses databases.
@Suite struct ProcessEndTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The engine and OpenSSL would free what the threads use.
    @Test func exitWhileThreadsWorkLeavesSoundDatabase() async throws {
        let path = directory.file("test.db")
        let key = try DatabaseKey.raw(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        var statuses: [Int32] = []
        for run in 0..<(Extent.isComplete ? 200 : Extent.share(of: 40)) {
            let arguments = [path, "\(20 + run % 10 * 7)"]
            // Off the threads of Swift's pool, which other tests need to end.
            statuses.append(
                try await SerialWorker.once { try Program.run(Program.built("EndingProcess"), arguments).status }
            )
            let found = try DatabaseFile(path: path).verify(key: key)
            #expect(found.isSound, "run \(run)")
        }
        #expect(statuses == Array(repeating: 0, count: statuses.count))
    }

    /// A call that would take minutes.
    @Test(.enabled(if: EngineWork.freesKeysAtExit, "this engine keeps its keys at the end of a process"))
    func exitInterruptsLongCall() async {
        await #expect(processExitsWith: .success) {
            // Before the library's, and so called after it.
            // What is not interrupted is waited for five seconds.
            atexit {
                let isInTime = LongCall.exitBegan.duration(to: .now) < .seconds(4)
                let rows = LongCall.rows.load(ordering: .relaxed)
                usleep(100_000)
                _exit(isInTime && LongCall.rows.load(ordering: .relaxed) == rows ? EXIT_SUCCESS : EXIT_FAILURE)
            }
            let queue = try DatabaseQueue(path: nil)
            let begins = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = try? queue.inDatabase {
                    try $0.makeFunction(named: "counted", arguments: 1) { _ in
                        if LongCall.rows.add(1) == 1 { begins.signal() }
                        return 1
                    }
                    return try $0.int(
                        forQuery:
                            "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT count(counted(a)) FROM n"
                    )
                }
            }
            begins.wait()
            LongCall.exitBegan = .now
            exit(EXIT_SUCCESS)
        }
    }

    /// The block that has the turn is held when the handler runs.
    @Test(.enabled(if: EngineWork.freesKeysAtExit, "this engine keeps its keys at the end of a process"))
    func handlerThatClosesQueueDoesNotWait() async {
        await #expect(processExitsWith: .success) {
            alarm(30)
            // Before the library's, and so called after it.
            atexit { try? ClosedByHandler.queue?.close() }
            let queue = try DatabaseQueue(path: nil)
            ClosedByHandler.queue = queue
            let begins = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
                begins.signal()
                while true { try? queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (1)") } }
            }
            begins.wait()
            usleep(50_000)
            exit(EXIT_SUCCESS)
        }
    }

    /// One that exits in a function of its own must not wait for itself.
    @Test func exitInsideOfFunctionEndsProcess() async {
        await #expect(processExitsWith: .success) {
            let database = Database(path: nil)
            try database.open()
            try database.makeFunction(named: "leave", arguments: 0) { _ in exit(EXIT_SUCCESS) }
            _ = try database.int(forQuery: "SELECT leave()")
        }
    }
}
