import CipherKeys
import CipherSystem
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@testable import CipherPages

@Suite(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct PageScanTests {
    private static let key = SampleKey.named("secret")
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("sample.db")
    }

    private func scan(_ shell: StockShell, log: String? = nil) throws -> PageScan.Result {
        let format: CipherFormat = shell.format == 4 ? .v4 : .v3
        let file = try FileBytes(path: path)
        let derived = try Self.key.key.derive(salt: file.read(16, at: 0), format: format)
        return try PageScan(
            database: file,
            log: log.map { (try FileBytes(path: $0), .all) },
            key: derived,
            format: format
        ).run()
    }

    @Test(arguments: StockShell.all)
    func onlyDamagedPagesAreNamed(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: Self.key)
        let size = shell.format == 4 ? 4096 : 1024
        let sound = try scan(shell)
        #expect(sound.damaged.isEmpty && sound.pages > 20)
        for number in [3, 4, 17] { try flipByte(of: path, at: (number - 1) * size + 99) }
        #expect(try scan(shell) == PageScan.Result(pages: sound.pages, damaged: [3, 4, 17]))
    }

    /// A file of which one byte is read wrong so many times, as of a page that somebody writes meanwhile.
    private struct Torn: PageSource {
        let bytes: [UInt8]
        let place: Int
        let left: Lock<Int>

        func size() throws -> Int64 { Int64(bytes.count) }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let part = bytes[min(bytes.count, Int(offset))...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            let isTorn =
                part.indices.contains(place)
                && left.withLock { left in
                    left -= 1
                    return left >= 0
                }
            if isTorn { buffer[place - part.startIndex] ^= 1 }
            return part.count
        }
    }

    @Test func pageThatIsWrittenMeanwhileIsNotDamaged() throws {
        let pages = try EncryptedPages(8, format: .v4)
        func damaged(_ times: Int) throws -> [Int] {
            let file = Torn(bytes: pages.bytes, place: 4 * CipherFormat.v4.pageSize + 99, left: Lock(times))
            return try PageScan(database: file, log: nil, key: pages.key, format: .v4).run().damaged
        }
        #expect(try damaged(0) == [] && damaged(1) == [])
        #expect(try damaged(.max) == [5])
    }

    @Test(arguments: StockShell.all)
    func truncatedPageIsDamaged(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: Self.key)
        let pages = try scan(shell).pages
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: UInt64(pages * (shell.format == 4 ? 4096 : 1024) - 100))
        try file.close()
        #expect(try scan(shell) == PageScan.Result(pages: pages - 1, damaged: [pages]))
    }

    /// A hole of a gigabyte costs its maker nothing.
    @Test(arguments: StockShell.all)
    func pagesBeyondHeaderSizeAreSkippedOnRequest(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: Self.key)
        let format: CipherFormat = shell.format == 4 ? .v4 : .v3
        let pages = try scan(shell).pages
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: UInt64((pages + 3) * format.pageSize))
        try file.close()
        try flipByte(of: path, at: 4 * format.pageSize + 9)
        #expect(try scan(shell).damaged == [5, pages + 1, pages + 2, pages + 3])
        let bytes = try FileBytes(path: path)
        let key = try Self.key.key.derive(salt: bytes.read(16, at: 0), format: format)
        func counted() throws -> PageScan.Result {
            try PageScan(database: bytes, log: nil, key: key, format: format, inHeaderSizeOnly: true).run()
        }
        #expect(try counted() == PageScan.Result(pages: pages, damaged: [5]))
        // A first page that is damaged counts nothing.
        try flipByte(of: path, at: 40)
        #expect(try counted().damaged == [1, 5, pages + 1, pages + 2, pages + 3])
    }

    @Test(arguments: StockShell.all)
    func pagesInWALAreReadThere(shell: StockShell) throws {
        // The shell is killed with its log not checkpointed: the file itself holds old pages only.
        try shell.run(path, key: Self.key.pragma, "PRAGMA journal_mode = WAL; CREATE TABLE first (a);")
        let copy = directory.file("copy.db")
        try shell.run(
            path,
            key: Self.key.pragma,
            "PRAGMA wal_autocheckpoint = 0; \(SampleFile.script)\n.shell cp '\(path)' '\(copy)'\n"
                + ".shell cp '\(path)-wal' '\(copy)-wal'\n"
        )
        let log = try #require(try WriteAheadLog(FileBytes(path: copy + "-wal")))
        #expect(log.offsets.count > 20 && !log.firstPages.isEmpty)
        let format: CipherFormat = shell.format == 4 ? .v4 : .v3
        let file = try FileBytes(path: copy)
        let derived = try Self.key.key.derive(salt: file.read(16, at: 0), format: format)
        func damaged() throws -> [Int] {
            try PageScan(database: file, log: (FileBytes(path: copy + "-wal"), .all), key: derived, format: format)
                .run()
                .damaged
        }
        #expect(try damaged().isEmpty)
        // Page 1 in the file is superseded by that in the log: only damage to the latter counts.
        try flipByte(of: copy, at: 200)
        #expect(try damaged().isEmpty)
        try flipByte(of: copy + "-wal", at: Int(try #require(log.offsets[1])) + 200)
        #expect(try damaged() == [1])
        // One that the file is too short for.
        let last = try #require(log.offsets.keys.max())
        #expect(try file.size() < Int64(last) * Int64(format.pageSize))
        try flipByte(of: copy + "-wal", at: Int(try #require(log.offsets[last])) + 200)
        #expect(try damaged() == [1, Int(last)])
    }

    @Test func framesAfterBrokenChecksumAreInvalid() throws {
        let shell = try #require(StockShell.all.last)
        let copy = directory.file("copy.db")
        try shell.run(
            path,
            key: Self.key.pragma,
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \(SampleFile.script)\n"
                + ".shell cp '\(path)-wal' '\(copy)-wal'\n"
        )
        var log = try Data(contentsOf: URL(fileURLWithPath: copy + "-wal"))
        let length = 24 + (try #require(try WriteAheadLog(FileBytes(path: copy + "-wal"))).pageSize)
        let frames = (log.count - 32) / length
        #expect(try WriteAheadLog.validFrames(FileBytes(path: copy + "-wal")) == frames && frames > 20)
        // What a crash before this log's last commit can have left behind it: a frame with its salts, and a commit.
        log.append(log[32..<(32 + length)])
        log[log.count - length + 7] = 9
        try log.write(to: URL(fileURLWithPath: copy + "-wal"))
        let file = try FileBytes(path: copy + "-wal")
        #expect(try WriteAheadLog.validFrames(file) == frames)
        #expect(try WriteAheadLog(file)?.pageCount == 9)
        #expect(try WriteAheadLog(file, frames: frames)?.pageCount != 9)
    }

    @Test func invalidWALIsIgnored() throws {
        let junk = try directory.write((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7) }, to: "junk")
        #expect(try WriteAheadLog(FileBytes(path: junk)) == nil)
        let empty = try directory.write([], to: "empty")
        #expect(try WriteAheadLog(FileBytes(path: empty)) == nil)
    }
}

/// Files that were made to hurt.
@Suite struct HostileFileTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A file of this size that takes no room.
    private func sparse(_ size: UInt64, head: [UInt8] = []) throws -> String {
        let path = try directory.write(head, to: "sparse")
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: size)
        try file.close()
        return path
    }

    @Test func tooManyPagesAreRefused() throws {
        let file = try FileBytes(path: sparse(12 << 40))
        let key = try DatabaseKey.random()
        guard case .rejected = try KeyProbe(database: file, log: nil).run(key, formats: CipherFormat.standard) else {
            Issue.record("accepted")
            return
        }
        let derived = try key.derive(salt: Array(0..<16), format: .v3)
        #expect(throws: TooManyPages.self) {
            try PageScan(database: file, log: nil, key: derived, format: .v3).run()
        }
    }

    @Test func longEmptyWALEndsEarly() throws {
        let header: [UInt8] =
            [0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18, 0, 0, 0x10, 0] + [UInt8](repeating: 0, count: 20)
        let log = try #require(try WriteAheadLog(FileBytes(path: sparse(8 << 40, head: header))))
        #expect(log.offsets.isEmpty && log.pageSize == 4096)
    }

    @Test func longEmptyJournalEndsEarly() throws {
        let header: [UInt8] =
            [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 0, 0, 0, 9]
            + [0, 0, 2, 0, 0, 0, 16, 0]
        let file = try FileBytes(path: sparse(8 << 40, head: header))
        let journal = try #require(try RollbackJournal(file))
        #expect(try journal.firstPage() == nil)
        let key = try DatabaseKey.random().derive(salt: Array(0..<16), format: .v4)
        #expect(try RollbackJournal.errors(file, database: file, coding: .encrypted(key, .v4)).count < 200)
        #expect(try NewestPages(database: file, journal: file, pageSize: 4096).size() == 8 << 40)
    }

    @Test func walDoesNotEnlargeDatabase() throws {
        let frame: [UInt8] = [0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xfe] + [UInt8](repeating: 7, count: 16)
        let header: [UInt8] =
            [0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18, 0, 0, 0x10, 0, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 16)
        let log = try FileBytes(path: directory.write(header + frame + [UInt8](repeating: 1, count: 4096), to: "log"))
        let database = try FileBytes(path: directory.write([UInt8](repeating: 2, count: 8192), to: "database"))
        #expect(try #require(try WriteAheadLog(log)).pageCount == 0xffff_fffe)
        #expect(try NewestPages(database: database, log: log, pageSize: 4096).size() <= 4 * 4096)
    }

    @Test(arguments: [0, 1, 256, 1 << 17, 0xffff_ffff])
    func walWithInvalidPageSizeIsIgnored(size: Int) throws {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
        let header: [UInt8] =
            [0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18] + bytes + [UInt8](repeating: 1, count: 4000)
        #expect(try WriteAheadLog(FileBytes(path: directory.write(header, to: "log"))) == nil)
    }

    @Test func pageOfAnotherSizeIsNotDecrypted() throws {
        let cipher = try PageCipher(key: DatabaseKey.random().derive(salt: Array(0..<16), format: .v4), format: .v4)
        #expect(throws: UnusableCipherFormat.pageSize(100)) {
            try cipher.decrypt([UInt8](repeating: 0, count: 100), number: 2)
        }
    }
}
