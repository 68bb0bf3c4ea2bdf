import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

@Suite(
    .slow,
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .atTheEnds
)
struct ChangeInPlaceTests {
    let directory: TemporaryDirectory
    let path: String
    var file: DatabaseFile { DatabaseFile(path: path) }
    static let key = SampleKey.named("secret")
    static let new = SampleKey.named("new")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private static var own: Int { Engine.current.formats.first?.version ?? 0 }

    @Test(arguments: StockShell.all.filter { $0.format <= Self.own }, ["delete", "wal"])
    func shellOpensOnlyWithKeyChangedInPlace(shell: StockShell, mode: String) throws {
        try SampleFile.make(at: path, by: shell, key: Self.key, before: "PRAGMA journal_mode = \(mode);")
        let found = try file.changeKeyInPlace(from: Self.key.key, to: Self.new.key)
        #expect(found.isSound)
        let rows = try shell.run(path, key: Self.new.pragma, SampleFile.query + "PRAGMA integrity_check;")
        #expect(rows == [SampleFile.answer, "ok"])
        #expect(throws: StockShell.Failure.self) { try shell.run(path, key: Self.key.pragma, SampleFile.query) }
    }

    @Test(arguments: StockShell.all)
    func inPlaceChangeKeepsFormat(shell: StockShell) throws {
        for format in 1...shell.format where format <= Self.own && (format > 2 || shell.isOfThisEngine) {
            // Under a raw key format 1 is not looked for, and formats 2 and 3 are the same.
            let (old, new) = format <= 2 ? (SampleKey.all[1], SampleKey.all[2]) : (Self.key, Self.new)
            for size in Extent.isComplete || format > 2 ? [1024, 8192] : [1024] {
                try? FileManager.default.removeItem(atPath: path)
                try SampleFile.make(at: path, by: shell, key: old, format: format, pageSize: size)
                let found = try file.changeKeyInPlace(from: old.key, to: new.key)
                #expect(found.isSound && found.format.version == format && found.format.pageSize == size)
                let rows = try shell.run(
                    path,
                    key: new.pragma,
                    settings: shell.settings(forFormat: format) + ["cipher_page_size = \(size)"],
                    SampleFile.query + "PRAGMA integrity_check;"
                )
                #expect(rows == [SampleFile.answer, "ok"], "format \(format), pages of \(size)")
            }
        }
    }

    @Test func stopAfterInPlaceChangeIsIgnored() throws {
        struct Stop: Error {}
        let queue = try DatabaseQueue(path: path, key: Self.key.key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        var ends = 0
        // The first end is that of the check before, from which on it is too late.
        let found = try file.changeKeyInPlace(from: Self.key.key, to: Self.new.key) {
            if ends > 0 { throw Stop() }
            if $0.done == $0.all { ends += 1 }
        }
        #expect(found.isSound && ends == 1)
        #expect(try file.verify(key: Self.new.key).isSound)
    }
}
