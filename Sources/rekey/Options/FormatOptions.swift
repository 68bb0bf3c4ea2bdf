import ArgumentParser
import CipherDB
import Rekeying

/// The format of a new file.
struct FormatOptions: ParsableArguments {
    @OptionGroup var parameters: FormatParameters<NewFormat>

    @Option(
        help: ArgumentHelp(
            "PBKDF2 iterations of the new file. Other numbers than 4000, 64000 and 256000 then need --file-kdf-iter.",
            valueName: "number"
        )
    )
    var kdfIter: Int?

    @Flag(help: "Allow a format that is weaker than the file's own, or than the version's.")
    var allowWeaker = false

    /// The parameters that the options name.
    var change: FormatChange {
        var change = parameters.change
        change.iterations = kdfIter
        return change
    }
}
