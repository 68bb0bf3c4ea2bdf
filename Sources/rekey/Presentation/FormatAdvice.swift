import CipherDB
import CipherKeys

extension CipherFormat {
    /// The options that name this format where it is not found, such as `--file-hmac-salt-mask 55`.
    var fileOptions: String {
        // The options have the names of the pragmas, without `cipher_` and `_size`.
        let options = pragmas.map { name, value in
            let words = name.split(separator: "_").filter { !["cipher", "size"].contains($0) }
            return "--file-\(words.joined(separator: "-")) \(value)"
        }
        return options.isEmpty ? "--file-format \(version)" : options.joined(separator: " ")
    }
}
