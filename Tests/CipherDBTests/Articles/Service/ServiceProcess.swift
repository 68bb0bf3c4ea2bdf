import CipherDB
import Foundation

/// `ServiceInstance DIRECTORY MODE NUMBER` is an instance of the service; `ServiceInstance DIRECTORY MODE rotate` rotates the key and
/// then waits to be killed.
@main
struct ServiceProcess {
    private static let parent = getppid()

    /// False if the test that started this process was killed.
    static var hasTest: Bool { getppid() == parent }

    static func main() async throws {
        _ = parent
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let mode = JournalMode(rawValue: arguments[2]) else { exit(64) }
        let scene = ServiceScene(directory: arguments[1], mode: mode)
        guard arguments[3] == "rotate" else {
            var instance = try await Instance(scene, Int(arguments[3]) ?? 0)
            return try await instance.run()
        }
        let instance = try await Instance(scene, 0)
        try scene.tell("rotator")
        while !scene.has("rotated"), hasTest {
            do {
                try await Instance.rotate(instance.database, instance.keyring, mode)
                try scene.tell("rotated")
            } catch DatabaseError.busy {
                // In rollback mode the instances keep the database open, and in use.
            }
        }
        while hasTest { try await Task.sleep(for: .milliseconds(100)) }
    }
}
