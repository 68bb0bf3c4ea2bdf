import Foundation
import Rekeying

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// GET /health, and the health check of a container, which asks the service on this machine for it.
enum Health {
    /// What a service says that can read and write its database: with status 200, or where it cannot with 503 and the problem.
    struct Report: Codable, Sendable {
        struct Backup: Codable, Sendable {
            /// The number of the newest generation; nil until there is one.
            var generation: UInt64?
            /// For how long at most a commit of that generation waited.
            var lagSeconds: Double?
            /// The repository has all that was committed before.
            var completeUntil: Date?
            var storedBytes: Int64
            var failures: Int
            var failuresInSuccession: Int

            init(_ metrics: BackupMetrics) {
                generation = metrics.generation?.number
                lagSeconds = metrics.lag.map { $0 / .seconds(1) }
                completeUntil = metrics.completeUntil
                storedBytes = metrics.storedSize
                failures = metrics.failures
                failuresInSuccession = metrics.failuresInSuccession
            }
        }

        /// SQLite's code; the log has the cause.
        var problem: String?
        /// Nil if the service has no repository.
        var backup: Backup?
    }

    /// Nil if the service answers and can read and write its database, else why not.
    static func problem(port: Int) async -> String? {
        guard let url = URL(string: "http://127.0.0.1:\(port)/health") else { return "no port \(port)" }
        do {
            let (_, response) = try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 3))
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return status == 200 ? nil : "\(url.absoluteString) answered \(status)"
        } catch {
            return "\(url.absoluteString) did not answer: \(error.localizedDescription)"
        }
    }
}
