import CipherDB
import Foundation

/// The code of the articles about keys, keyrings, formats, errors and concurrency.
private struct KeysCode {
    func keys() throws {
        // begin
        let typed = try DatabaseKey.passphrase("correct horse battery staple")
        let random = try DatabaseKey.random()
        let spelled = try DatabaseKey.raw(hex: "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99")
        // end
        print(typed, random, spelled)
    }

    func sources() throws {
        // begin
        let secret = try KeySource.prompt("Passphrase", confirmed: false).readPassphrase()
        let queue = try DatabaseQueue(path: "vault.db", key: secret)
        // end
        try queue.close()
    }

    func rekey() throws {
        // begin
        let database = Database(path: "vault.db")
        try database.open()
        try database.setKey("correct horse battery staple")
        try database.rekey("a better passphrase")
        database.close()
        // end
    }

    func keyrings() throws -> DatabaseQueue {
        // begin
        let keyring = Keyring(path: "vault.db.keyring")
        let secret = try KeyringSecret.passphrase("correct horse battery staple")
        let queue = try DatabaseQueue(path: "vault.db", key: .keyring(keyring, unlockedBy: secret))
        // end
        return queue
    }

    func slots(_ keyring: Keyring, _ queue: DatabaseQueue) throws {
        // begin
        let unlocked = try keyring.unlock(.passphrase("correct horse battery staple"))
        try unlocked.add(.passphrase("Bob's own passphrase"), label: "Bob")
        try keyring.change(.passphrase("correct horse battery staple"), to: .passphrase("a better passphrase"))
        for slot in try keyring.content().slots { print(slot.number, slot.label) }
        // end
        // begin
        try queue.rotateKey(of: unlocked)
        // end
    }

    func commands(_ keyring: Keyring, _ unlocked: UnlockedKeyring) throws -> DatabaseQueue {
        // begin
        let command = try SecretCommand("/usr/bin/age --decrypt --identity /etc/vault/identity /etc/vault/secret.age")
        try unlocked.add(.command(command), label: "machine")
        let byMachine = try keyring.unlock(allowing: [command])
        let opened = try DatabaseQueue(path: "vault.db", key: byMachine)
        // end
        return opened
    }

    func concurrency(_ pool: DatabasePool) async throws {
        // begin
        try await pool.write { try $0.executeUpdate("INSERT INTO notes (text) VALUES (?)", "buy stamps") }
        let count = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
        // end
        print(count ?? 0)
    }

    func errors(path: String, passphrase: String) throws -> DatabaseQueue? {
        // begin
        do {
            return try DatabaseQueue(path: path, key: .passphrase(passphrase))
        } catch KeyError.wrongKey {
            return nil
        }
        // end
    }

    func engines(_ database: Database) throws {
        // begin
        if Engine.current.has(.upsert) {
            try database.upsert(into: "settings", ["name": "theme", "value": "dark"], onConflict: "name")
        }
        print(Engine.current.sqlcipherVersion ?? "no SQLCipher", Engine.current.formats)
        // end
    }

    func formats(passphrase: String) throws {
        // begin
        let format = try CipherFormat { $0.iterations = 1_000_000 }
        let configuration = Configuration { $0.format = format }
        let queue = try DatabaseQueue(path: "vault.db", key: .passphrase(passphrase), configuration: configuration)
        // end
        try queue.close()
    }

    func anyFormat(passphrase: String) throws {
        // begin
        let configuration = Configuration {
            $0.format = .any
            $0.searchedIterations = [10_000, 100_000]
        }
        let queue = try DatabaseQueue(path: "old.db", key: .passphrase(passphrase), configuration: configuration)
        let found = try queue.inDatabase { $0.cipherFormat }
        // end
        print(found as Any)
        try queue.close()
    }

    func plaintextHeader(passphrase: String, salt: [UInt8]) throws {
        // begin
        let configuration = Configuration { $0.format = try? CipherFormat { $0.plaintextHeaderSize = 32 } }
        let key = try DatabaseKey.passphrase(passphrase).with(salt: salt)
        let queue = try DatabaseQueue(path: "shared.db", key: key, configuration: configuration)
        // end
        try queue.close()
    }
}
