import CipherDB
import CipherKeys
import Rekeying

/// What is said on standard error of a file that was written in an old format, because the engine has no newer one.
enum OldFormatNote {
    static func tell(_ file: String, _ done: RewriteResult) {
        guard let format = done.format, format.version != done.previousFormat?.version,
            format.version < CipherFormat.v4.version, (try? Engine.current.ownFormat())?.version == format.version
        else { return }
        Output.tellLine(
            "rekey: \(file): written in format \(format.version), the newest of SQLCipher \(Engine.current.sqlcipherVersion ?? ""); for format \(CipherFormat.v4.version) install a "
                + "rekey for SQLCipher 4, on Debian 12 that of bookworm-backports, and run `rekey migrate`",
            clearing: true
        )
    }
}
