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

    @Test func weakerParametersNeedUnsafeCall() throws {
        #expect(throws: UnusableCipherFormat.self) { try CipherFormat.v4.with(keyDerivation: .sha256) }
        #expect(throws: UnusableCipherFormat.self) { try CipherFormat.v4.with(pageAuthentication: .sha1) }
        #expect(throws: UnusableCipherFormat.self) { try CipherFormat.v4.with(plaintextHeaderSize: 48) }
        #expect(try CipherFormat.v3.with(pageAuthentication: .sha512).reserve == 80)
        #expect(try CipherFormat.v4.with(unsafeKeyDerivation: .sha1).keyDerivation == .sha1)
        #expect(try CipherFormat.v4.with(unsafePageAuthentication: nil).reserve == 16)
        #expect(try CipherFormat.v4.with(unsafePlaintextHeaderSize: 1024).plaintextHeaderSize == 1024)
        #expect(try CipherFormat.v4.with(plaintextHeaderSize: 32) == .ofFile(plaintextHeaderSize: 32))
    }

    @Test(arguments: [-16, 8, 24, 4016, 65536])
    func impossiblePlaintextHeaderIsRefused(size: Int) {
        #expect(throws: UnusableCipherFormat.plaintextHeader(size, most: 4000)) {
            try CipherFormat.ofFile(plaintextHeaderSize: size)
        }
    }

    @Test func plaintextHeaderLeavesProofWithoutMACs() throws {
        #expect(throws: UnusableCipherFormat.plaintextHeader(96, most: 80)) {
            try CipherFormat.ofFile(pageAuthentication: .some(nil), plaintextHeaderSize: 96)
        }
    }

    @Test func versionIsNearestOne() throws {
        let same = try CipherFormat.ofFile(
            pageSize: 1024,
            iterations: 64000,
            keyDerivation: .sha1,
            pageAuthentication: .sha1
        )
        #expect(same == .v3 && same.version == 3 && "\(same)" == "\(CipherFormat.v3)")
        #expect(try CipherFormat.ofFile(version: 3, iterations: 4000) == .v2)
        #expect(try CipherFormat.ofFile(keyDerivation: .sha1).version == 4)
        #expect(try CipherFormat.ofFile(pageSize: 1024, pageAuthentication: .some(nil)).version == 4)
    }

    @Test func expressionGivesFormat() throws {
        #expect(CipherFormat.standard.map(\.expression) == [".v4", ".v3", ".v2", ".v1"])
        let format = try CipherFormat.ofFile(
            version: 2,
            pageSize: 512 * 4,
            iterations: 9,
            keyDerivation: .sha1,
            pageAuthentication: .sha256,
            pageNumberOrder: .bigEndian,
            macSaltMask: 5,
            macKeyIterations: 3,
            macKeyDerivation: .sha512,
            plaintextHeaderSize: 16
        )
        #expect(
            format.expression == """
                try .ofFile(version: 3, pageSize: 2048, iterations: 9, pageAuthentication: .sha256, \
                pageNumberOrder: .bigEndian, macSaltMask: 0x05, macKeyIterations: 3, macKeyDerivation: .sha512, plaintextHeaderSize: 16)
                """
        )
    }
}
