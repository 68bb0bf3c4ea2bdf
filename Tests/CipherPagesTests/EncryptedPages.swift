import CipherKeys

@testable import CipherPages

/// Pages with random content, as they are in a file.
struct EncryptedPages {
    let key: DerivedKey
    let format: CipherFormat
    let first: UInt32
    var bytes: [UInt8] = []

    init(_ count: Int, from first: UInt32 = 1, format: CipherFormat, key: DerivedKey? = nil) throws {
        self.key = try key ?? EncryptedPages.randomKey(format)
        self.format = format
        self.first = first
        let cipher = try PageCipher(key: self.key, format: format)
        var plain = [UInt8](repeating: 0, count: format.pageSize)
        var page = plain
        var iv = [UInt8](repeating: 0, count: 16)
        for index in 0..<UInt32(count) {
            try plain.withUnsafeMutableBytes { try Cryptography.randomize($0) }
            try iv.withUnsafeMutableBytes { try Cryptography.randomize($0) }
            try plain.withUnsafeBytes { plain in
                try iv.withUnsafeBytes { iv in
                    try page.withUnsafeMutableBytes {
                        try cipher.encrypt(plain, number: first + index, iv: iv, into: $0)
                    }
                }
            }
            bytes += page
        }
    }

    static func randomKey(_ format: CipherFormat) throws -> DerivedKey {
        try DatabaseKey.raw(.random(count: 32)).derive(salt: Array(0..<16), format: format)
    }

    func damaged(_ authenticator: PageAuthenticator) throws -> [UInt32] {
        try bytes.withUnsafeBytes { bytes in
            try authenticator.damaged(in: .init(first: first, pageSize: format.pageSize, bytes: bytes))
        }
    }
}
