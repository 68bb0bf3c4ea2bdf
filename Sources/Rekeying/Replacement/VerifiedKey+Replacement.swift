internal import CipherDB
internal import CipherKeys
internal import CipherPages

extension VerifiedKey {
    /// `key` for a file that takes the place of another, or is made from it; the format is named as it will be found.
    ///
    /// - Throws: as `init(newFileUnder:format:like:)`.
    init(replacementUnder key: DatabaseKey, format: CipherFormat, like present: VerifiedKey? = nil) throws {
        let format = key.isPassphrase ? format : FormatSearch.formatUnderRawKey(format)
        try self.init(newFileUnder: key, format: format, like: present)
    }
}
