import CipherDB
import Foundation

/// A directory with the database and the keyring of a service, and with files by which the test and the instances tell each other
/// things.
struct ServiceScene: Sendable {
    let directory: String
    let mode: JournalMode
    var data: String { directory + "/data" }
    var path: String { data + "/test.db" }
    var keyFile: String { directory + "/key" }

    func secret() throws -> KeyringSecret { try KeySource.file(path: keyFile).readKeyringSecret(.keyFile) }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: directory + "/" + name) }

    func tell(_ name: String, _ text: String = "") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/" + name), options: .atomic)
    }

    func told(_ name: String) throws -> String {
        try String(contentsOfFile: directory + "/" + name, encoding: .utf8)
    }

    func forget(_ name: String) throws {
        try FileManager.default.removeItem(atPath: directory + "/" + name)
    }
}
