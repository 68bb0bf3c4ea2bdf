import CipherKeys
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@testable import CipherPages

/// Files written by each engine's own shell, read without any engine.
@Suite(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct PageCipherTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let shell: StockShell
        let format: CipherFormat
        var testDescription: String { "\(shell), format \(format.version), pages of \(format.pageSize)" }

        static let all: [Sample] = StockShell.all.flatMap { samples(of: $0) }
        static let authenticated = all.filter { $0.format.pageAuthentication != nil }

        private static func samples(of shell: StockShell) -> [Sample] {
            var samples: [Sample] = []
            for format in CipherFormat.standard where format.version <= shell.format {
                for size in Extent.isComplete ? CipherFormat.pageSizes : [512, 1024, 4096, 65536] {
                    // SQLCipher 4 cannot read back what it writes in format 1 with such small pages.
                    if size == 512, shell.format == 4 { continue }
                    guard let format = try? format.changed({ $0.pageSize = size }) else { continue }
                    samples.append(Sample(shell: shell, format: format))
                }
            }
            return samples
        }
    }

    let directory: TemporaryDirectory
    static let key = SampleKey.named("secret")

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func make(_ sample: Sample) throws -> (file: FileBytes, cipher: PageCipher, pages: Int) {
        let path = directory.file("sample.db")
        try SampleFile.make(
            at: path,
            by: sample.shell,
            key: Self.key,
            format: sample.format.version,
            pageSize: sample.format.pageSize
        )
        let file = try FileBytes(path: path)
        let derived = try Self.key.key.derive(salt: file.read(16, at: 0), format: sample.format)
        return (
            file, try PageCipher(key: derived, format: sample.format), Int(try file.size()) / sample.format.pageSize
        )
    }

    private func page(_ number: Int, of file: FileBytes, _ format: CipherFormat) throws -> [UInt8] {
        try file.read(format.pageSize, at: Int64((number - 1) * format.pageSize))
    }

    @Test(arguments: Sample.authenticated)
    func pageIsAuthenticUnderItsNumberOnly(sample: Sample) throws {
        let (file, cipher, pages) = try make(sample)
        #expect(pages > 1)
        for number in 1...pages {
            let page = try page(number, of: file, sample.format)
            #expect(try cipher.isAuthentic(page, number: UInt32(number)) == true)
            #expect(try cipher.isAuthentic(page, number: UInt32(number + 1)) == false)
        }
    }

    @Test(arguments: Sample.all)
    func decryptedPagesAreSoundPlaintextDatabase(sample: Sample) throws {
        let (file, cipher, pages) = try make(sample)
        var plain: [UInt8] = []
        for number in 1...pages {
            plain += try cipher.decrypt(page(number, of: file, sample.format), number: UInt32(number))
        }
        let path = try directory.write(plain, to: "plain.db")
        let script = """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            print(connection.execute("PRAGMA integrity_check").fetchone()[0])
            print(connection.execute(sys.argv[2]).fetchone()[0])
            """
        // Debian's own Python, with plain SQLite, knows nothing of encryption.
        let outcome = try Program.run("/usr/bin/python3", ["-c", script, path, SampleFile.query])
        #expect(outcome.output == "ok\n\(SampleFile.answer)\n", "\(outcome.errors)")
    }

    @Test(arguments: Sample.authenticated.filter { [1024, 4096].contains($0.format.pageSize) })
    func changedAuthenticatedByteIsDetected(sample: Sample) throws {
        let (file, cipher, pages) = try make(sample)
        let format = sample.format
        let hash = try #require(format.pageAuthentication)
        // The bytes behind the HMAC are padding, and the salt of page 1 is not under the HMAC but in its key.
        let covered = format.pageSize - format.reserve + 16 + hash.digestSize
        for number in [1, 2, pages] {
            let original = try page(number, of: file, format)
            for offset in stride(from: 0, to: format.pageSize, by: 7) {
                var page = original
                page[offset] ^= 0x10
                let expected = offset >= covered || (number == 1 && offset < 16)
                #expect(
                    try cipher.isAuthentic(page, number: UInt32(number)) == expected,
                    "page \(number), byte \(offset)"
                )
            }
        }
    }

    @Test func format1CannotAuthenticatePages() throws {
        let sample = try #require(Sample.all.first { $0.format == .v1 })
        let (file, cipher, _) = try make(sample)
        #expect(try cipher.isAuthentic(page(2, of: file, .v1), number: 2) == nil)
        #expect(try cipher.opensFirstPage(page(1, of: file, .v1)))
        let wrong = try PageCipher(
            key: DatabaseKey.random().derive(salt: file.read(16, at: 0), format: .v1),
            format: .v1
        )
        #expect(try !wrong.opensFirstPage(page(1, of: file, .v1)))
    }

    @Test func partialPageIsNotAuthentic() throws {
        let sample = try #require(Sample.authenticated.first { $0.format.version == 3 })
        let (file, cipher, _) = try make(sample)
        let page = try page(1, of: file, sample.format)
        #expect(try cipher.isAuthentic(page.dropLast(), number: 1) == false)
        #expect(try cipher.isAuthentic([UInt8](), number: 1) == false)
        #expect(try cipher.opensFirstPage(page.dropLast()) == false)
    }
}
