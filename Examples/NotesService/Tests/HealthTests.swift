import CipherDB
import Foundation
import Logging
import Metrics
import Testing

@testable import NotesService

@Suite struct HealthTests {
    private struct Unfit: Error {}

    @Test func healthFollowsWrites() async throws {
        let health = WriteHealth()
        #expect(await health.problem {} == nil)
        await #expect(throws: DatabaseError.self) {
            try await health.noting { throw DatabaseError(code: .full, message: "no room") }
        }
        // A small write may find room where a large one did not.
        #expect(await health.problem {} == .full)
    }

    @Test func probeThatFailsIsUnhealthy() async throws {
        #expect(await WriteHealth().problem { throw DatabaseError(code: .busy, message: "locked") } == .busy)
        #expect(await WriteHealth().problem { throw Unfit() } == .error)
    }

    @Test func unfitNoteIsNoFailure() async throws {
        let health = WriteHealth()
        await #expect(throws: DatabaseError.self) {
            try await health.noting { throw DatabaseError(code: .constraintCheck, message: "too long") }
        }
        #expect(await health.problem {} == nil)
    }

    @Test func lostKeyringIsNotReplaced() async throws {
        let scratch = try Scratch()
        let secret = try KeyringSecret.passphrase("correct horse battery staple")
        let (store, keyring) = try await NoteStore.open(scratch.path, secret, Logger(label: "test"))
        _ = try await store.add(NoteStore.Note(author: "Ada", text: "milk"))
        #expect(await store.problem() == nil)
        try await store.pool.rotateKey(of: keyring)
        try await store.pool.close()
        let (again, _) = try await NoteStore.open(scratch.path, secret, Logger(label: "test"))
        #expect(try await again.count() == 1)
        try await again.pool.close()
        try FileManager.default.removeItem(atPath: scratch.path + ".keyring")
        let lost = await #expect(throws: KeyringError.self) {
            _ = try await NoteStore.open(scratch.path, secret, Logger(label: "test"))
        }
        #expect(lost?.code == .lost && lost?.database == scratch.path)
        #expect(!FileManager.default.fileExists(atPath: scratch.path + ".keyring"))
    }

    @Test func metricsAreInTextOfPrometheus() {
        let metrics = PrometheusMetrics()
        metrics.makeCounter(label: "cipherdb.failures", dimensions: [("code", "full"), ("name", "a\"b")]).increment(
            by: 3
        )
        metrics.makeTimer(label: "cipherdb.wait", dimensions: []).recordNanoseconds(1_500_000_000)
        #expect(
            metrics.text == """
                # TYPE cipherdb_failures_total counter
                cipherdb_failures_total{code="full",name="a\\"b"} 3.0
                # TYPE cipherdb_wait_seconds summary
                cipherdb_wait_seconds_count 1
                cipherdb_wait_seconds_sum 1.5
                cipherdb_wait_seconds_max 1.5

                """
        )
    }
}
