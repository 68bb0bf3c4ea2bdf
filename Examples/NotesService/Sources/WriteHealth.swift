import CipherDB
import Foundation

/// Whether notes can be written: by what became of the last writes, and where there was none of late, by a write of its own.
actor WriteHealth {
    /// What a write that failed was told by.
    private var failure: (code: ResultCode, at: ContinuousClock.Instant)?
    private var lastSuccess: ContinuousClock.Instant?
    /// A write that succeeded so long ago says nothing, and one that failed so long ago may succeed by now.
    private static let memory = Duration.seconds(5)

    /// Runs a write, and notes whether it succeeded. An error of the note itself is no failure.
    func noting<Result: Sendable>(_ write: @Sendable () async throws -> Result) async throws -> Result {
        do {
            let result = try await write()
            lastSuccess = .now
            return result
        } catch let error as DatabaseError where error.code.primary != .constraint {
            failure = (error.code, .now)
            throw error
        }
    }

    /// The code of the failure; nil where writes succeed.
    func problem(_ probe: @Sendable () async throws -> Void) async -> ResultCode? {
        let now = ContinuousClock.now
        if let failure, now - failure.at < Self.memory { return failure.code }
        if let lastSuccess, now - lastSuccess < Self.memory { return nil }
        do {
            try await noting(probe)
            return nil
        } catch {
            return failure?.code ?? .error
        }
    }
}
