import CipherKeys
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@testable import CipherPages

/// A key is tried on each image of page 1 in a WAL: a recovery may bring any of them back.
@Suite struct KeyProbeLogTests {
    private struct Bytes: PageSource {
        let bytes: [UInt8]
        func size() throws -> Int64 { Int64(bytes.count) }
        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }

    private let key: DerivedKey
    private let format = CipherFormat.v4
    private let authentic: [UInt8]
    private let foreign: [UInt8]

    init() throws {
        let salt = [UInt8](repeating: 9, count: 16)
        func firstPage(_ key: DerivedKey) throws -> [UInt8] {
            var page = [UInt8](repeating: 0, count: 4096)
            var plain = [UInt8](repeating: 3, count: 4096)
            let iv = [UInt8](repeating: 5, count: 16)
            // The page size, and what always stands in a header.
            plain.replaceSubrange(16..<24, with: [0x10, 0, 1, 1, 80, 64, 32, 32])
            try page.withUnsafeMutableBytes { page in
                try plain.withUnsafeBytes { plain in
                    try iv.withUnsafeBytes {
                        try PageCipher(key: key, format: .v4).encrypt(plain, number: 1, iv: $0, into: page)
                    }
                }
            }
            return page
        }
        key = try DatabaseKey.random().derive(salt: salt, format: .v4)
        authentic = try firstPage(key)
        foreign = try firstPage(DatabaseKey.random().derive(salt: salt, format: .v4))
    }

    /// A WAL of committed images of page 1; no reader of ours looks at its checksums.
    private func log(_ images: [[UInt8]]) -> Bytes {
        var bytes: [UInt8] =
            [0x37, 0x7F, 0x06, 0x82, 0, 0x2D, 0xE2, 0x18, 0, 0, 0x10, 0] + [UInt8](repeating: 1, count: 20)
        for image in images { bytes += [0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 1, count: 16) + image }
        return Bytes(bytes: bytes)
    }

    private func opens(_ images: [[UInt8]]) throws -> Bool {
        let probe = try KeyProbe(database: Bytes(bytes: foreign), log: log(images))
        if case .opens = try probe.run(key, format: format) { return true }
        return false
    }

    @Test func anyFrameInWALProvesKey() throws {
        #expect(try opens([authentic]) && opens([authentic, foreign]) && opens([foreign, authentic]))
        #expect(try opens([foreign, authentic, foreign]) && !opens([foreign, foreign]) && !opens([]))
    }

    @Test func changedFirstPageOutdatesProbe() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(authentic, to: "page")
        let probe = try KeyProbe(database: FileBytes(path: path), log: nil)
        #expect(try !probe.isOutdated())
        try flipByte(of: path, at: 4000)
        #expect(try probe.isOutdated())
        try flipByte(of: path, at: 4000)
        #expect(try !probe.isOutdated())
    }
}
