internal import CipherKeys

/// An object that ends with the digest of all before it: a manifest, a record of prunes, the marker of a repository.
enum DigestedObject {
    static func file(_ content: [UInt8]) throws -> [UInt8] {
        try content + OpenSSL.SHA256().digest(of: content).bytes
    }

    /// The content of a file; nil where it does not begin with `magic`, or the digest is wrong.
    static func content(_ file: [UInt8], magic: [UInt8]) throws -> ArraySlice<UInt8>? {
        let end = file.count - Digest.size
        guard end >= magic.count, file.starts(with: magic),
            try OpenSSL.SHA256().digest(of: Array(file[..<end])).bytes.elementsEqual(file[end...])
        else { return nil }
        return file[..<end]
    }
}
