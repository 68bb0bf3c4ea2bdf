import CipherDB
import CipherSystem
import Rekeying
import TestSupport
import Testing

/// What an operation says while it searches for the format of a file.
@Suite struct SearchProgressTests {
    private struct Stopped: Error {}

    @Test func derivationsAreCounted() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.db")
        try SampleFile.make(at: path, under: .passphrase("the passphrase"))
        let counts = Lock<[(done: Int, all: Int)]>([])
        var file = DatabaseFile(path: path)
        file.willDerive = { done, all in counts.withLock { $0.append((done, all)) } }
        expect(throws: KeyError.wrongKey) { try file.inspect(key: .passphrase("another")) }
        let seen = counts.withLock { $0 }
        #expect(seen.map(\.done) == Array(0..<9) && seen.allSatisfy { $0.all == 9 })
        file.willDerive = { _, _ in throw Stopped() }
        #expect(throws: Stopped.self) { try file.inspect(key: .passphrase("another")) }
        // A raw key is not derived.
        expect(throws: KeyError.wrongKey) { try file.inspect(key: .sample("k")) }
    }
}
