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
    func invalidPageSizeIsRefused(size: Int) {
        #expect(throws: UnusableCipherFormat.pageSize(size)) { try CipherFormat.v4.with(pageSize: size) }
    }

    @Test func pagesOf512BytesNeedFormat1() throws {
        for format in [CipherFormat.v2, .v3, .v4] {
            #expect(throws: UnusableCipherFormat.pageSize(512)) { try format.with(pageSize: 512) }
        }
        #expect(try CipherFormat.v1.with(pageSize: 512).pageSize == 512)
    }

    @Test func formatIterationsOutOfBoundsAreRefused() throws {
        for format in CipherFormat.standard {
            let least = format.iterations
            for iterations in [Int.min, 0, 1, least - 1, 10_000_001, .max] {
                #expect(throws: UnusableCipherFormat.iterations(iterations, least: least)) {
                    try format.with(iterations: iterations)
                }
            }
            for iterations in [least, least + 1, 500_000, 10_000_000] {
                #expect(try format.with(iterations: iterations).iterations == iterations)
            }
        }
    }
}
