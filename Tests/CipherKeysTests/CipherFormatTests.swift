import CipherKeys
import Testing

@Suite struct CipherFormatTests {
    @Test func reservesAreThoseOfSQLCipher() {
        #expect(CipherFormat.standard.map(\.reserve) == [80, 48, 48, 16])
    }

    @Test func defaultsAreThoseOfSQLCipher() {
        #expect(CipherFormat.standard.map(\.version) == [4, 3, 2, 1])
        #expect(CipherFormat.standard.map(\.pageSize) == [4096, 1024, 1024, 1024])
        #expect(CipherFormat.standard.map(\.iterations) == [256_000, 64_000, 4_000, 4_000])
        #expect(CipherFormat.standard.map(\.keyDerivation) == [.sha512, .sha1, .sha1, .sha1])
        #expect(CipherFormat.standard.map(\.pageAuthentication) == [.sha512, .sha1, .sha1, nil])
    }

    @Test(arguments: [0, -4096, 256, 1000, 131_072])
    func pageSizesThatSQLiteHasNotAreRefused(size: Int) {
        #expect(throws: UnusableCipherFormat.pageSize(size)) { try CipherFormat.v4.with(pageSize: size) }
    }

    @Test func pagesOf512BytesLeaveTooLittleInFormatsThatAuthenticate() throws {
        for format in [CipherFormat.v2, .v3, .v4] {
            #expect(throws: UnusableCipherFormat.pageSize(512)) { try format.with(pageSize: 512) }
        }
        #expect(try CipherFormat.v1.with(pageSize: 512).pageSize == 512)
    }

    @Test func weakerDerivationsThanTheFormatsOwnAreRefused() throws {
        #expect(throws: UnusableCipherFormat.iterations(255_999, least: 256_000)) {
            try CipherFormat.v4.with(iterations: 255_999)
        }
        #expect(throws: UnusableCipherFormat.iterations(10_000_001, least: 256_000)) {
            try CipherFormat.v4.with(iterations: 10_000_001)
        }
        #expect(try CipherFormat.v4.with(iterations: 500_000).iterations == 500_000)
    }
}
