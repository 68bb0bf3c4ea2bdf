import CipherKeys
import TestSupport
import Testing

@testable import CipherDB
@testable import CipherPages

/// The functions that the engine calls for the cryptography of pages.
struct ProviderTests {
    @Test(arguments: [
        ("3.4.1", ProviderLayout.v34), ("4.4.0 community", .v44), ("4.5.6 community", .v44),
        ("4.6.1 community", .v44),
        ("4.7.0 community", .v47), ("4.12.0 community", .v47), ("4.19.0 community", .v47),
    ])
    func layoutOfKnownVersion(version: String, layout: ProviderLayout) {
        #expect(ProviderLayout.of(version) == layout)
    }

    @Test(arguments: ["3.4.0", "3.4.2", "4.0.0 community", "4.3.0", "4.20.0 community", "5.0.0", "4.6", "", "x"])
    func unknownVersionHasNoLayout(version: String) {
        #expect(ProviderLayout.of(version) == nil)
    }

    @Test func enginesOfMatrixUseKeptContexts() {
        #expect(Engine.current.pageCryptography == .keptContexts)
    }

    @Test func variableLeavesPagesToEngine() throws {
        for (value, expected) in [
            ("engine", "page cryptography: the engine's (asked for"), ("x", "page cryptography: kept"),
        ] {
            let outcome = try Program.run(
                Program.built("rekey"),
                ["--version"],
                environment: ["CIPHERDB_PAGE_CRYPTOGRAPHY": value]
            )
            #expect(outcome.output.contains(expected), "\(outcome.output)")
        }
    }

    @Test func callLeavesPagesToEngine() async {
        await #expect(processExitsWith: .success) {
            #expect(Engine.current.useEnginePageCryptography())
            #expect(Engine.current.pageCryptography == .engine("asked for by the program"))
            let directory = try TemporaryDirectory()
            let queue = try DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
            try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        }
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            _ = try DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
            #expect(!Engine.current.useEnginePageCryptography(), "too late")
        }
    }

    @Test func engineStillNamesItsProvider() throws {
        let directory = try TemporaryDirectory()
        let configuration = Configuration { $0.unsafeAllowsAllSQL = true }
        let queue = try DatabaseQueue(
            path: directory.file("test.db"),
            key: .sample("secret"),
            configuration: configuration
        )
        for pragma: SQL in ["PRAGMA cipher_provider", "PRAGMA main.cipher_provider"] {
            #expect(try queue.inDatabase { try $0.string(forQuery: pragma) } == "openssl")
        }
    }

    /// Any sequence of calls gives what the engine's own functions give, on several connections at once.
    @Test func functionsMatchEngineInAnySequence() throws {
        let stock = try #require(Provider.registration.stock)
        var trials = RandomTrials("calls of the provider", "CIPHERDB_PAGES", rounds: 2_000)
        var contexts = try (0..<3).map { _ in try Self.context() }
        defer { for index in contexts.indices { #expect(ProviderFunctions.contextFree(&contexts[index]) == 0) } }
        let keys = (0..<3).map { _ in (0..<32).map { _ in UInt8(truncatingIfNeeded: trials.random.next()) } }
        let algorithms: UInt64 = stock.layout.namesAlgorithm ? 3 : 1
        while trials.goesOn() {
            let context = contexts[Int(trials.random.next() % 3)]
            let key = keys[Int(trials.random.next() % 3)]
            let size = [16, 496, 1008, 4016, 8112][Int(trials.random.next() % 5)]
            // The MAC of a page stands behind it.
            let input = (0..<(size + 16 + 64)).map { _ in UInt8(truncatingIfNeeded: trials.random.next()) }
            var ours = [UInt8](repeating: 0, count: size + 64)
            var theirs = ours
            switch trials.random.next() % 3 {
            case 0:
                let algorithm = Int32(trials.random.next() % algorithms)
                #expect(Self.hmac(stock.layout, context, algorithm, key, input, size + 16, &ours) == 0)
                #expect(stock.hmac(context, algorithm, key, 32, input, Int32(size + 16), input, 4, &theirs) == 0)
            case let mode:
                let iv = Array(input.suffix(16))
                #expect(ProviderFunctions.cipher(context, Int32(mode) - 1, key, 32, iv, input, Int32(size), &ours) == 0)
                #expect(stock.cipher(context, Int32(mode) - 1, key, 32, iv, input, Int32(size), &theirs) == 0)
            }
            #expect(ours == theirs)
        }
    }

    /// As the engine makes it for a connection. SQLCipher 3.4.1 sets the cipher afterwards.
    private static func context() throws -> UnsafeMutableRawPointer? {
        var context: UnsafeMutableRawPointer?
        try #require(ProviderFunctions.contextInit(&context) == 0)
        if Provider.registration.stock?.layout.usesContext == true {
            context?.storeBytes(of: KeptContexts.aes256CBC, as: UnsafeRawPointer?.self)
        }
        return context
    }

    private static func hmac(
        _ layout: ProviderLayout,
        _ context: UnsafeMutableRawPointer?,
        _ algorithm: Int32,
        _ key: [UInt8],
        _ input: [UInt8],
        _ size: Int,
        _ result: inout [UInt8]
    ) -> Int32 {
        layout.namesAlgorithm
            ? ProviderFunctions.hmac(context, algorithm, key, 32, input, Int32(size), input, 4, &result)
            : ProviderFunctions.hmacSHA1(context, key, 32, input, Int32(size), input, 4, &result)
    }

    /// A function that differs from the engine's, or gives no answer, is never registered.
    @Test(arguments: ["hmac", "cipher"])
    func providerThatDiffersIsNotUsed(function: String) throws {
        let stock = try #require(Provider.registration.stock)
        try stock.compare()
        // It says that it has done its work, and has not.
        let wrong: @convention(c) () -> Int32 = { 0 }
        var members = stock.members
        let index = function == "hmac" ? stock.layout.hmac : stock.layout.cipher
        members[index] = unsafeBitCast(wrong, to: UnsafeMutableRawPointer.self)
        let other = StockProvider(layout: stock.layout, members: members, current: stock.current)
        #expect(throws: Provider.Unusable.self) { try other.compare() }
    }

    /// A layout that another version has is not taken for this one's.
    @Test func layoutOfAnotherVersionIsRefused() throws {
        let layout = try #require(Provider.registration.stock?.layout)
        for other in [ProviderLayout.v34, .v44, .v47] where other != layout {
            let error = #expect(throws: Provider.Unusable.self) { try StockProvider(other) }
            #expect(error?.reason == "its interface is not as expected")
        }
    }
}
