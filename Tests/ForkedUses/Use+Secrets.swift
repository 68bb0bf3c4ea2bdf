import CipherDB
import CipherKeys
import TestSupport

extension Use {
    static let ofSecrets = [
        Use("SecretBytes.withUnsafeBytes", .secret) { _ in
            let secret = try Scene.bytes()
            return { try secret.withUnsafeBytes { _ in } }
        },
        Use("SecretBytes.prefix", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try secret.prefix(3) }
        },
        Use("SecretBytes.==, to zeros", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try secret == SecretBytes(count: secret.count) { _ in } }
        },
        Use("SecretBytes.==, of zeros", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try SecretBytes(count: secret.count) { _ in } == secret }
        },
        Use("SecretBytes.description, isLocked", .returned) { _ in
            let secret = try Scene.bytes()
            return { guard "\(secret)".contains("32 bytes"), !secret.isLocked else { throw Wrong() } }
        },
        Use("SecretBytes.deinit", .returned) { _ in
            var secret: SecretBytes? = try Scene.bytes()
            return {
                secret = nil
                guard secret == nil, try SecretBytes(utf8: "new") == SecretBytes(utf8: "new") else { throw Wrong() }
            }
        },
        Use("DatabaseKey.passphrase", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try DatabaseKey.passphrase(secret) }
        },
        Use("DatabaseKey.raw", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try DatabaseKey.raw(secret) }
        },
        Use("DatabaseKey.rawWithSalt", .secret) { _ in
            let secret = try SecretBytes.random(count: 48)
            return { _ = try DatabaseKey.rawWithSalt(secret) }
        },
        Use("DatabaseKey.raw(hex:)", .secret) { _ in
            let secret = try SecretBytes(utf8: String(repeating: "a1", count: 32))
            return { _ = try DatabaseKey.raw(hex: secret) }
        },
        Use("DatabaseKey.engineBytes", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try DatabaseKey.engineBytes(secret) }
        },
        Use("DatabaseKey.==", .secret) { _ in
            let key = try Scene.key()
            return { _ = try key == Scene.key() }
        },
        Use("KeyringSecret.passphrase", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try KeyringSecret.passphrase(secret) }
        },
        Use("KeyringSecret.keyFile", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try KeyringSecret.keyFile(secret) }
        },
        Use("KeyringSecret.external", .secret) { _ in
            let secret = try Scene.bytes()
            return { _ = try KeyringSecret.external(secret) }
        },
        Use("RecoveryCode(typed:)", .secret) { _ in
            let typed = try RecoveryCode.random().text()
            return { _ = try RecoveryCode(typed: typed) }
        },
        Use("RecoveryCode.text", .secret) { _ in
            let code = try RecoveryCode.random()
            return { _ = try code.text() }
        },
        Use("RecoveryCode.==", .secret) { _ in
            let code = try RecoveryCode.random()
            return { _ = try RecoveryCode.random() == code }
        },
        Use("SecretSource.readPassphrase", .secret) { _ in
            let source = Kept(secret: try Scene.bytes())
            return { _ = try source.readPassphrase() }
        },
        Use("SecretSource.readRawKey", .secret) { _ in
            let source = Kept(secret: try Scene.bytes())
            return { _ = try source.readRawKey() }
        },
        Use("SecretSource.readKeyringSecret", .secret) { _ in
            let source = Kept(secret: try Scene.bytes())
            return { _ = try source.readKeyringSecret(.keyFile) }
        },
    ]

    /// An answer that is no error, and not right.
    struct Wrong: Error {}

    private struct Kept: SecretSource {
        let secret: SecretBytes
        func read() throws -> SecretBytes { secret }
    }

    static let ofKeyrings = [
        Use("Keyring.create", .secret) { scene in
            let secret = try Scene.secret()
            return { try Keyring(besideDatabase: scene.newPath).create(with: secret) }
        },
        Use("Keyring.create, with a passphrase", .secret) { scene in
            let secret = try KeyringSecret.passphrase("a passphrase of the parent's")
            return { try Keyring(besideDatabase: scene.newPath).create(with: secret) }
        },
        Use("Keyring.unlock", .secret) { scene in
            let secret = try Scene.secret()
            return { _ = try scene.keyring.unlock(secret) }
        },
        Use("Keyring.change, from a secret", .secret) { scene in
            let secret = try Scene.secret()
            return { try scene.keyring.change(secret, to: Scene.secret("child")) }
        },
        Use("Keyring.change, to a secret", .secret) { scene in
            let secret = try Scene.secret("other")
            return { try scene.keyring.change(Scene.secret(), to: secret) }
        },
        unlocked("content") { keyring, _ in _ = try keyring.content() },
        unlocked("slots") { keyring, _ in _ = try keyring.content().slots },
        unlocked("databaseKey") { keyring, _ in _ = try keyring.databaseKey() },
        unlocked("exportDatabaseKey") { keyring, _ in _ = try keyring.exportDatabaseKey() },
        unlocked("add") { keyring, _ in try keyring.add(Scene.secret("child")) },
        unlocked("add, a recovery code") { keyring, _ in
            let code = try RecoveryCode.random()
            try keyring.add(code, typedBack: RecoveryCode(typed: code.text()))
        },
        unlocked("change(slot:to:)") { keyring, _ in try keyring.change(slot: 1, to: Scene.secret("child")) },
        unlocked("remove") { keyring, _ in try keyring.remove(slot: 1, force: true) },
        unlocked("forgetOlderKeys") { keyring, _ in try keyring.forgetOlderKeys() },
        unlocked("backUp") { keyring, scene in try keyring.backUp(to: scene.newPath) },
        unlocked("restore") { keyring, scene in try keyring.restore(to: Keyring(path: scene.newPath)) },
        Use("UnlockedKeyring.add, a secret of the parent's", .secret) { scene in
            let secret = try Scene.secret("other")
            return { try scene.keyring.unlock(Scene.secret()).add(secret) }
        },
        Use("UnlockedKeyring.change, to a secret of the parent's", .secret) { scene in
            let secret = try Scene.secret("other")
            return { try scene.keyring.unlock(Scene.secret()).change(slot: 1, to: secret) }
        },
        Use("UnlockedKeyring.opens", .secret) { scene in
            let secret = try Scene.secret()
            return { _ = try scene.keyring.unlock(Scene.secret()).opens(slot: 1, with: secret) }
        },
    ]

    private static func unlocked(
        _ name: String,
        _ call: @escaping @Sendable (UnlockedKeyring, Scene) throws -> Void
    ) -> Use {
        Use("UnlockedKeyring.\(name)", .secret) { scene in
            let keyring = try scene.keyring.unlock(Scene.secret())
            return { try call(keyring, scene) }
        }
    }
}
