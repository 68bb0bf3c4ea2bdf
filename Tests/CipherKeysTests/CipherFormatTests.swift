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
        #expect(throws: UnusableCipherFormat.pageSize(size)) { try CipherFormat { $0.pageSize = size } }
    }

    @Test func pagesOf512BytesNeedFormat1() throws {
        for format in [CipherFormat.v2, .v3, .v4] {
            #expect(throws: UnusableCipherFormat.pageSize(512)) { try CipherFormat(format) { $0.pageSize = 512 } }
        }
        #expect(try CipherFormat(.v1) { $0.pageSize = 512 }.pageSize == 512)
    }

    @Test func formatIterationsOutOfBoundsAreRefused() throws {
        for format in CipherFormat.standard {
            let least = format.iterations
            for iterations in [Int.min, 0, 10_000_001, .max] {
                #expect(throws: UnusableCipherFormat.iterations(iterations, least: 1)) {
                    try CipherFormat(format) { $0.unsafeIterations = iterations }
                }
            }
            for iterations in [1, least - 1] {
                #expect {
                    try CipherFormat(format) { $0.iterations = iterations }
                } throws: {
                    "\($0)".contains("unsafeIterations")
                }
            }
            for iterations in [least, least + 1, 500_000, 10_000_000] {
                #expect(try CipherFormat(format) { $0.iterations = iterations }.iterations == iterations)
            }
        }
    }

    @Test func weakerParametersNeedUnsafeCall() throws {
        #expect(throws: UnusableCipherFormat.self) { try CipherFormat { $0.keyDerivation = .sha256 } }
        #expect(throws: UnusableCipherFormat.self) { try CipherFormat { $0.pageAuthentication = .sha1 } }
        #expect(throws: UnusableCipherFormat.self) { try CipherFormat { $0.plaintextHeaderSize = 48 } }
        #expect(try CipherFormat(.v3) { $0.pageAuthentication = .sha512 }.reserve == 80)
        #expect(try CipherFormat { $0.unsafeKeyDerivation = .sha1 }.keyDerivation == .sha1)
        #expect(try CipherFormat { $0.unsafePageAuthentication = nil }.reserve == 16)
        #expect(try CipherFormat { $0.unsafePlaintextHeaderSize = 1024 }.plaintextHeaderSize == 1024)
        #expect(try CipherFormat { $0.plaintextHeaderSize = 32 } == CipherFormat { $0.unsafePlaintextHeaderSize = 32 })
    }

    /// A file may be as weak as it is.
    @Test func weakFormatIsNotWeakenedFurther() throws {
        let weak = try CipherFormat.v4.changed { $0.iterations = 1000 }
        #expect(try CipherFormat(weak) { $0.pageSize = 8192 }.iterations == 1000)
        #expect(throws: UnusableCipherFormat.self) { try CipherFormat(weak) { $0.iterations = 999 } }
        #expect(try CipherFormat(CipherFormat { $0.iterations = 300_000 }) { $0.iterations = 256_000 } == .v4)
    }

    @Test(arguments: [-16, 8, 24, 4016, 65536])
    func impossiblePlaintextHeaderIsRefused(size: Int) {
        #expect(throws: UnusableCipherFormat.plaintextHeader(size, most: 4000)) {
            try CipherFormat { $0.unsafePlaintextHeaderSize = size }
        }
    }

    @Test func plaintextHeaderLeavesProofWithoutMACs() throws {
        #expect(throws: UnusableCipherFormat.plaintextHeader(96, most: 80)) {
            try CipherFormat {
                $0.unsafePageAuthentication = nil
                $0.unsafePlaintextHeaderSize = 96
            }
        }
    }

    @Test func versionIsNearestOne() throws {
        let same = try CipherFormat {
            $0.pageSize = 1024
            $0.unsafeIterations = 64000
            $0.unsafeKeyDerivation = .sha1
            $0.unsafePageAuthentication = .sha1
        }
        #expect(same == .v3 && same.version == 3 && "\(same)" == "\(CipherFormat.v3)")
        #expect(try CipherFormat(.v3) { $0.unsafeIterations = 4000 } == .v2)
        #expect(try CipherFormat { $0.unsafeKeyDerivation = .sha1 }.version == 4)
        let withoutMACs = try CipherFormat {
            $0.pageSize = 1024
            $0.unsafePageAuthentication = nil
        }
        #expect(withoutMACs.version == 4)
    }

    @Test func expressionGivesFormat() throws {
        #expect(CipherFormat.standard.map(\.expression) == [".v4", ".v3", ".v2", ".v1"])
        let format = try CipherFormat(.v2) {
            $0.pageSize = 512 * 4
            $0.unsafeIterations = 9
            $0.pageAuthentication = .sha256
            $0.pageNumberOrder = .bigEndian
            $0.macSaltMask = 5
            $0.macKeyIterations = 3
            $0.macKeyDerivation = .sha512
            $0.unsafePlaintextHeaderSize = 48
        }
        #expect(
            format.expression == """
                try CipherFormat(.v3) { $0.pageSize = 2048; $0.unsafeIterations = 9; $0.pageAuthentication = .sha256; \
                $0.pageNumberOrder = .bigEndian; $0.macSaltMask = 0x05; $0.macKeyIterations = 3; $0.macKeyDerivation = .sha512; \
                $0.unsafePlaintextHeaderSize = 48 }
                """
        )
    }
}
