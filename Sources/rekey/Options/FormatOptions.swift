import ArgumentParser
import CipherDB

/// The format of a new file.
struct FormatOptions: ParsableArguments {
    @Option(help: ArgumentHelp("SQLCipher format: 2, 3 or 4. Default: that of the engine.", valueName: "number"))
    var format: Int?

    @Option(help: ArgumentHelp("Page size, a power of two from 1024 to 65536.", valueName: "bytes"))
    var pageSize: Int?

    @Option(
        help: ArgumentHelp(
            "PBKDF2 iterations, at least the default of the format. The file then needs --file-kdf-iter.",
            valueName: "number"
        )
    )
    var kdfIter: Int?

    /// The format that the options name; nil for none.
    func choice() throws -> CipherFormat? {
        guard format != nil || pageSize != nil || kdfIter != nil else { return nil }
        var chosen = try Engine.current.ownFormat()
        if let format {
            // Format 1 does not authenticate pages: nothing new is written in it.
            guard let found = CipherFormat.standard.first(where: { $0.version == format && $0.version > 1 }) else {
                throw ValidationError("--format: give 2, 3 or 4.")
            }
            chosen = found
        }
        if let pageSize { chosen = try chosen.with(pageSize: pageSize) }
        if let kdfIter { chosen = try chosen.with(iterations: kdfIter) }
        return chosen
    }
}
