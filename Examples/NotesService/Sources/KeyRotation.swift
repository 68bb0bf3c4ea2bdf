import CipherDB
import Logging
import ServiceLifecycle
import UnixSignals

/// Gives the database a new key at each SIGHUP, while requests are served: they wait for the end of it, and none fails.
struct KeyRotation: Service {
    let pool: DatabasePool
    let keyring: UnlockedKeyring
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                try await pool.rotateKey(of: keyring)
                logger.notice("the key was rotated")
            } catch {
                logger.error("the key was not rotated", metadata: ["error": "\(error)"])
            }
        }
    }
}
