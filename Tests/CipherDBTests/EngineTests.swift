import CipherDB
import Foundation
import TestSupport
import Testing

@Suite struct EngineTests {
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["CIPHERDB_OTHER_HEADER"] == nil,
            "make test gives one build each engine's library"
        )
    )
    func headerAndLibraryAreOfOneEngine() {
        #expect(Engine.headerVersion == Engine.current.sqliteVersion)
    }

    @Test func thisProcessHasEngineThatEncrypts() throws {
        #expect(Engine.current.canEncrypt)
        let version = try #require(Engine.current.sqlcipherVersion)
        #expect("\(Engine.current)".contains(version))
        #expect(Engine.current.opensslVersion.hasPrefix("3."))
    }

    /// Set by the test script for each engine of the matrix.
    private static let expected = ProcessInfo.processInfo.environment["CIPHERDB_ENGINE"]

    @Test(.enabled(if: expected != nil, "no engine was named by CIPHERDB_ENGINE"))
    func engineIsThatOfTheRun() throws {
        let expected = try #require(Self.expected)
        #expect(try #require(Engine.current.sqlcipherVersion).hasPrefix(expected))
    }

    @Test func capabilitiesAreThoseMeasuredForVersion() throws {
        let since4: Set<Capability> = [
            .fts5, .json, .jsonb, .math, .upsert, .returning, .windowFunctions, .strictTables, .generatedColumns,
            .dropColumn,
            .vacuumInto, .cipherIntegrityCheck, .cipherCompatibility, .exportFromAttached,
        ]
        let version = try #require(Engine.current.sqlcipherVersion)
        #expect(Engine.current.capabilities.isSuperset(of: [.fts4, .rtree]))
        if version.hasPrefix("3.4.") { #expect(Engine.current.capabilities.isDisjoint(with: since4)) }
        if version.hasPrefix("4.6") { #expect(Engine.current.capabilities.isSuperset(of: since4)) }
    }

    @Test func capabilityMatchesSQL() throws {
        let database = Database(path: nil)
        try database.open()
        func works(_ sql: String) -> Bool { (try? database.executeStatements(SQL(unsafe: sql))) != nil }
        #expect(works("CREATE VIRTUAL TABLE f USING fts5(a)") == Engine.current.has(.fts5))
        try database.executeStatements("CREATE TABLE t (a UNIQUE)")
        #expect(works("INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING") == Engine.current.has(.upsert))
        #expect(works("SELECT json_array(1)") == Engine.current.has(.json))
        #expect(works("SELECT jsonb_array(1)") == Engine.current.has(.jsonb))
    }

    @Test func formatsBeginWithEnginesOwn() throws {
        let major = try #require(Engine.current.sqlcipherVersion?.first?.wholeNumberValue)
        #expect(Engine.current.formats.map(\.version) == Array((1...major).reversed()))
    }

    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["CIPHERDB_WHOLE_MATRIX"]?.isEmpty == false,
            "CIPHERDB_WHOLE_MATRIX does not ask for it"
        )
    )
    func matrixIsCompleteWhereItMustBe() {
        #expect(Set(StockShell.fetched.map(\.version)).isSuperset(of: ["3.4.1", "4.6.1", "4.12.0", "4.19.0"]))
        #expect(StockShell.isAvailable)
    }
}
