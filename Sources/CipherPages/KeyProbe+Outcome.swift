package import CipherKeys

extension KeyProbe {
    /// What a key is to a file.
    package enum Outcome {
        /// Page 1 is authentic under this key in this format.
        case opens(DerivedKey, CipherFormat)
        /// The key is right, and the pages have no MACs, which nobody said of the file: they may have been removed.
        case withoutMACs(CipherFormat)
        /// Page 1 is not authentic, but other pages are: the key is right, and page 1 is damaged.
        case firstPageDamaged(DerivedKey, CipherFormat)
        /// Page 1 is authentic under this key, and its plaintext header, which no MAC covers, contradicts the format.
        case headerDamaged(DerivedKey, CipherFormat, HeaderFlaw)
        /// Page 1 is authentic under this key, and what is in it is no beginning of a database: the cipher is another one.
        case otherCipher
        /// Page 1 is authentic in this format, which is searched for only where the key decrypts page 1: a damaged salt can look so.
        case otherParameters(CipherFormat)
        /// The key decrypts page 1, and no MAC of the file is right under it; `isSaltOfKey` if it is with the file's salt in place of the key's.
        case otherMACKey(isSaltOfKey: Bool)
        /// Other pages are authentic, and so is page 1 in the layout that SQLite3 Multiple Ciphers has by default.
        case otherLayout
        /// No page that was looked at is authentic in any of the formats tried.
        case rejected

        /// The format in which the key is right.
        package var format: CipherFormat? {
            switch self {
            case .opens(_, let format), .firstPageDamaged(_, let format), .headerDamaged(_, let format, _): format
            case .withoutMACs, .otherParameters, .otherMACKey, .otherCipher, .otherLayout, .rejected: nil
            }
        }
    }
}
