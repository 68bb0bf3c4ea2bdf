import ArgumentParser
import CipherDB

/// The format that a new file shall have.
struct FormatOptions: ParsableArguments {
    @Option(help: ArgumentHelp("SQLCipher's format: 2, 3 or 4; the engine's own unless given.", valueName: "number"))
    var format: Int?

    @Option(help: ArgumentHelp("Bytes in a page, a power of two from 1024 to 65536.", valueName: "bytes"))
    var pageSize: Int?

    @Option(
        help: ArgumentHelp(
            "PBKDF2 iterations for a passphrase, no fewer than the format's own; from then on to be named by --file-kdf-iter.",
            valueName: "number"
        )
    )
    var kdfIter: Int?

    /// What was asked for; nil where nothing was.
    func choice() throws -> CipherFormat? {
        guard format != nil || pageSize != nil || kdfIter != nil else { return nil }
        var chosen = try Engine.current.ownFormat()
        if let format {
            // Format 1 does not authenticate pages: nothing new is written in it.
            guard let found = CipherFormat.standard.first(where: { $0.version == format && $0.version > 1 }) else {
                throw ValidationError("The format is 2, 3 or 4.")
            }
            chosen = found
        }
        if let pageSize { chosen = try chosen.with(pageSize: pageSize) }
        if let kdfIter { chosen = try chosen.with(iterations: kdfIter) }
        return chosen
    }
}
