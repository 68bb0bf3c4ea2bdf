import ArgumentParser
import CipherDB
import CipherKeys
import CipherSystem
import Rekeying

/// The format of the file as it is, where it cannot be found, and its salt where that is not in the file.
struct FileFormatOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PBKDF2 iterations of the file, 1 to 10000000, or several numbers to try, with commas between them. 4000, 64000 and 256000 are tried anyway.",
            valueName: "numbers"
        )
    )
    var fileKdfIter: NumbersOption?

    @OptionGroup var parameters: FormatParameters<FileFormat>

    @Option(
        help: ArgumentHelp(
            "Salt of a file with a plaintext header, which does not contain it: 32 hex digits, or a file of 16 bytes or 32 digits.",
            valueName: "hex|path"
        )
    )
    var salt: String?

    /// Whether options describe a file that is encrypted.
    var isGiven: Bool { parameters.isGiven || fileKdfIter != nil }

    /// The file, as the options describe it.
    func database(_ path: String) throws -> DatabaseFile {
        var database = DatabaseFile(path: path)
        database.willDerive = SearchProgress(path).show
        if parameters.isGiven {
            database.configuration.format = try parameters.change.format()
            database.otherFormats = parameters.formatsOfOtherVersions
        }
        if let numbers = fileKdfIter?.numbers {
            database.iterations = numbers.first
            database.configuration.searchedIterations = Array(numbers.dropFirst())
        }
        return database
    }

    /// The key with the salt for a file that does not contain it.
    func salted(_ key: DatabaseKey) throws -> DatabaseKey {
        guard let salt else { return key }
        let bytes = try SaltOption.bytes(salt)
        guard key.salt == nil || key.salt == bytes else {
            throw ValidationError("--salt: the key has its salt with it, and that is another one.")
        }
        var key = key
        key.saltOfHeader = bytes
        return key
    }
}

/// Numbers with commas between them.
struct NumbersOption: ExpressibleByArgument {
    let numbers: [Int]

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard !numbers.isEmpty, numbers.allSatisfy({ $0.map((1...10_000_000).contains) ?? false }) else { return nil }
        self.numbers = numbers.compactMap { $0 }
    }
}

/// A salt, in hexadecimal digits or in a file. It is no secret.
private enum SaltOption {
    static func bytes(_ text: String) throws -> [UInt8] {
        if let bytes = decoded(text) { return bytes }
        let file: [UInt8]
        do {
            file = try FileBytes(path: text).read(1024, at: 0)
        } catch {
            throw ValidationError("--salt: give 32 hexadecimal digits, or the path of a file; \(text): \(error)")
        }
        if file.count == CipherFormat.saltSize { return file }
        var line = file[...]
        while let last = line.last, [0x0a, 0x0d, 0x20].contains(last) { line.removeLast() }
        guard let bytes = decoded(String(decoding: line, as: UTF8.self)) else {
            throw ValidationError("--salt: \(text) has neither 16 bytes nor 32 hexadecimal digits.")
        }
        return bytes
    }

    private static func decoded(_ text: String) -> [UInt8]? {
        let digits = Array(HexadecimalText.digits(text).utf8)
        guard digits.count == 2 * CipherFormat.saltSize else { return nil }
        return try? digits.withUnsafeBytes(Hexadecimal.decode).withUnsafeBytes { Array($0) }
    }
}

/// Hexadecimal digits as other programs and `rekey` itself write them.
enum HexadecimalText {
    /// The digits of `0x…` and of SQLCipher's `x'…'`; other text as it is.
    static func digits(_ text: String) -> String {
        if text.hasPrefix("0x") || text.hasPrefix("0X") { return String(text.dropFirst(2)) }
        let isLiteral = text.count > 2 && text.lowercased().hasPrefix("x'") && text.hasSuffix("'")
        return isLiteral ? String(text.dropFirst(2).dropLast()) : text
    }
}
