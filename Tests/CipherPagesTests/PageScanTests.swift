import CipherKeys
import Foundation
import TestSupport
import Testing

@testable import CipherPages

@Suite(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct PageScanTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("sample.db")
    }

    private func scan(_ shell: StockShell, log: String? = nil) throws -> PageScan.Result {
        let format: CipherFormat = shell.format == 4 ? .v4 : .v3
        let file = try FileBytes(path: path)
        let derived = try SampleKey.all[0].key.derive(salt: file.read(16, at: 0), format: format)
        return try PageScan(
            database: file,
            log: log.map { try FileBytes(path: $0) },
            key: derived,
            format: format
        ).run()
    }

    @Test(arguments: StockShell.all)
    func theDamagedPagesAndNoOthersAreNamed(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: SampleKey.all[0], format: shell.format)
        let size = shell.format == 4 ? 4096 : 1024
        let sound = try scan(shell)
        #expect(sound.damaged.isEmpty && sound.pages > 20)
        for number in [3, 4, 17] { try flipByte(of: path, at: (number - 1) * size + 99) }
        #expect(try scan(shell) == PageScan.Result(pages: sound.pages, damaged: [3, 4, 17]))
    }

    @Test(arguments: StockShell.all)
    func aPageThatWasCutOffIsDamaged(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: SampleKey.all[0], format: shell.format)
        let pages = try scan(shell).pages
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: UInt64(pages * (shell.format == 4 ? 4096 : 1024) - 100))
        try file.close()
        #expect(try scan(shell) == PageScan.Result(pages: pages - 1, damaged: [pages]))
    }

    @Test(arguments: StockShell.all)
    func pagesThatStandInTheLogAreReadThere(shell: StockShell) throws {
        // The shell is killed with its log not checkpointed: the file itself holds old pages only.
        try shell.run(path, key: SampleKey.all[0].pragma, "PRAGMA journal_mode = WAL; CREATE TABLE first (a);")
        let copy = folder.file("copy.db")
        try shell.run(
            path,
            key: SampleKey.all[0].pragma,
            "PRAGMA wal_autocheckpoint = 0; \(SampleFile.script)\n.shell cp '\(path)' '\(copy)'\n"
                + ".shell cp '\(path)-wal' '\(copy)-wal'\n"
        )
        let log = try #require(try WriteAheadLog(FileBytes(path: copy + "-wal")))
        #expect(log.offsets.count > 20 && !log.firstPages.isEmpty)
        let format: CipherFormat = shell.format == 4 ? .v4 : .v3
        let file = try FileBytes(path: copy)
        let derived = try SampleKey.all[0].key.derive(salt: file.read(16, at: 0), format: format)
        func damaged() throws -> [Int] {
            try PageScan(database: file, log: FileBytes(path: copy + "-wal"), key: derived, format: format).run()
                .damaged
        }
        #expect(try damaged().isEmpty)
        // Page 1 in the file is superseded by that in the log: only damage to the latter counts.
        try flipByte(of: copy, at: 200)
        #expect(try damaged().isEmpty)
        try flipByte(of: copy + "-wal", at: Int(try #require(log.offsets[1])) + 200)
        #expect(try damaged() == [1])
    }

    @Test func whatIsNoLogIsNotReadAsOne() throws {
        let junk = try folder.write((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7) }, to: "junk")
        #expect(try WriteAheadLog(FileBytes(path: junk)) == nil)
        let empty = try folder.write([], to: "empty")
        #expect(try WriteAheadLog(FileBytes(path: empty)) == nil)
    }
}
