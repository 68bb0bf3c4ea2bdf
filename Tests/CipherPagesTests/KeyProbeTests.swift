import CipherKeys
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@testable import CipherPages

@Suite(.slow, .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct KeyProbeTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("sample.db")
    }

    private func probe() throws -> KeyProbe {
        try KeyProbe(database: FileBytes(path: path), log: nil)
    }

    @Test(arguments: PageCipherTests.Sample.all)
    func formatAndPageSizeAreFound(sample: PageCipherTests.Sample) throws {
        try SampleFile.make(
            at: path,
            by: sample.shell,
            key: SampleKey.named("secret"),
            format: sample.format.version,
            pageSize: sample.format.pageSize
        )
        guard case .opens(_, let found) = try probe().run(SampleKey.named("secret").key, formats: CipherFormat.standard)
        else {
            Issue.record("not recognised")
            return
        }
        #expect(found.pageSize == sample.format.pageSize)
        // With a raw key, formats 2 and 3 differ in nothing: their iterations are those of the passphrase.
        #expect(found.version == (sample.format.version == 2 ? 3 : sample.format.version))
    }

    @Test(arguments: StockShell.all)
    func wrongKeyIsRejectedInEveryFormat(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: SampleKey.all[0])
        guard case .rejected = try probe().run(.passphrase("wrong"), formats: CipherFormat.standard) else {
            Issue.record("a wrong key was accepted")
            return
        }
    }

    @Test(arguments: StockShell.all)
    func damagedFirstPageIsNoWrongKey(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: SampleKey.all[0])
        try flipByte(of: path, at: 100)
        guard
            case .firstPageDamaged(_, let format) = try probe().run(
                SampleKey.all[0].key,
                formats: CipherFormat.standard
            )
        else {
            Issue.record("not told")
            return
        }
        #expect(format.version == shell.format)
    }
}
