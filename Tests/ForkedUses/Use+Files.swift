import CipherDB
import CipherKeys
import Rekeying
import TestSupport

extension Use {
    /// Operations on whole files, with keys from before the fork.
    static let ofFiles = [
        file("inspect") { file, key, _ in _ = try file.inspect(key: key) },
        file("verify") { file, key, _ in _ = try file.verify(key: key) },
        file("map") { file, key, _ in _ = try file.map(key: key) },
        file("changeKey, from a key") { file, key, _ in _ = try file.changeKey(from: key, to: Scene.key("child")) },
        file("changeKey, to a key") { file, key, _ in _ = try file.changeKey(from: Scene.key(), to: key) },
        file("changeKeyInPlace, from a key") { file, key, _ in
            _ = try file.changeKeyInPlace(from: key, to: Scene.key("child"))
        },
        file("changeKeyInPlace, to a key") { file, key, _ in
            _ = try file.changeKeyInPlace(from: Scene.key(), to: key)
        },
        file("copy") { file, key, scene in _ = try file.copy(key: key, to: scene.newPath) },
        file("copy, to a key") { file, key, scene in
            _ = try file.copy(key: Scene.key(), to: scene.newPath, newKey: key)
        },
        file("migrate") { file, key, _ in _ = try file.migrate(key: key) },
        file("recover") { file, key, scene in _ = try file.recover(key: key, to: scene.newPath) },
        file("decryptToPlaintext") { file, key, _ in _ = try file.decryptToPlaintext(key: key) },
        file("backUp") { file, key, scene in _ = try file.backUp(to: scene.repository, key: key) },
        file("restore") { _, key, scene in
            _ = try DatabaseFile(path: scene.newPath).restore(from: scene.repository, key: key)
        },
        file("check of a repository") { _, key, scene in _ = try scene.repository.check(provingBy: [key]) },
        Use("DatabaseFile.encrypt", .secret) { scene in
            let plaintext = Database(path: scene.newPath, configuration: Configuration { $0.allowsPlaintext = true })
            try plaintext.open()
            try plaintext.executeStatements("CREATE TABLE t (a)")
            plaintext.close()
            let key = try Scene.key()
            return { _ = try DatabaseFile(path: scene.newPath).encrypt(with: key) }
        },
        keyed("rotateKey") { file, keyring, _ in _ = try file.rotateKey(of: keyring) },
        keyed("rotateKeyInPlace") { file, keyring, _ in _ = try file.rotateKeyInPlace(of: keyring) },
        keyed("resumeRotation") { file, keyring, _ in _ = try file.resumeRotation(of: keyring) },
        keyed("cancelRotation") { file, keyring, _ in try file.cancelRotation(of: keyring) },
        keyed("position") { file, keyring, _ in _ = try file.position(in: keyring) },
        keyed("key") { file, keyring, _ in _ = try file.key(in: keyring) },
        keyed("adopt") { file, keyring, _ in _ = try file.adopt(keyring) },
        keyed("restoreKeyring") { file, keyring, scene in
            try file.restoreKeyring(Keyring(path: scene.newPath), from: keyring)
        },
        keyed("moveToKeyring") { _, keyring, scene in
            _ = try DatabaseFile(path: scene.path).moveToKeyring(keyring, from: Scene.key())
        },
        Use("BackupRepository.notedGeneration", .secret) { scene in
            let keyring = try scene.keyring.unlock(Scene.secret())
            return { _ = try scene.repository.notedGeneration(in: keyring) }
        },
    ]

    private static func file(
        _ name: String,
        _ call: @escaping @Sendable (DatabaseFile, DatabaseKey, Scene) throws -> Void
    ) -> Use {
        Use("DatabaseFile.\(name)", .secret) { scene in
            let key = try Scene.key()
            return { try call(DatabaseFile(path: scene.path), key, scene) }
        }
    }

    private static func keyed(
        _ name: String,
        _ call: @escaping @Sendable (DatabaseFile, UnlockedKeyring, Scene) throws -> Void
    ) -> Use {
        Use("DatabaseFile.\(name)", .secret) { scene in
            let keyring = try scene.keyring.unlock(Scene.secret())
            return { try call(DatabaseFile(path: scene.keyedPath), keyring, scene) }
        }
    }
}
