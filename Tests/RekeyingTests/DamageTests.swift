import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Single bits are flipped at random places. `CIPHERDB_FLIPS` sets how many for each format, 150 unless set;
/// `CIPHERDB_FLIP_SEED` repeats a run's places.
@Suite(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct DamageTests {
    let folder: TemporaryFolder
    let path: String
    static let key = SampleKey.all[5]

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("test.db")
    }

    private static var own: Int { Engine.current.formats.first?.version ?? 0 }

    private static let environment = ProcessInfo.processInfo.environment
    static let flips = environment["CIPHERDB_FLIPS"].flatMap { Int($0) } ?? 150

    private func flip(_ bit: Int, of file: String) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(bit / 8))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(bit / 8))
        try handle.write(contentsOf: [byte ^ 1 << (bit % 8)])
    }

    @Test(arguments: [3, 4].filter { $0 <= own })
    func everyFlippedBitIsFoundOnItsPageAndCalledNoWrongKey(format: Int) throws {
        let shell = try #require(StockShell.all.last { $0.format >= format })
        try SampleFile.make(at: path, by: shell, key: Self.key, format: format, pageSize: 1024)
        let size = try FileState(path).bytes.count
        let seed = Self.environment["CIPHERDB_FLIP_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        print("flips: format \(format): \(Self.flips), CIPHERDB_FLIP_SEED=\(seed)")
        var random = SplitMix(seed)
        let file = DatabaseFile(path: path)
        let layout = try #require(CipherFormat.standard.first { $0.version == format }).with(pageSize: 1024)
        for _ in 0..<Self.flips {
            let bit = Int.random(in: 0..<(size * 8), using: &random)
            let (page, place) = (bit / 8 / 1024 + 1, bit / 8 % 1024)
            try flip(bit, of: path)
            defer { try? flip(bit, of: path) }
            // IV and HMAC fill the reserve but for the last 12 bytes of format 3.
            let isPadding = format == 3 && place >= 1012
            if page == 1, place < CipherFormat.saltSize {
                // Another salt is another authentication key: nothing is authentic any more, as under a wrong key.
                #expect(throws: KeyError.wrongKey) { try file.verify(key: Self.key.key, checksStructure: false) }
                continue
            }
            let found = try file.verify(key: Self.key.key, checksStructure: page == 1)
            #expect(found.damagedPages == (isPadding ? [] : [page]), "bit \(bit)")
            if isPadding { #expect(found.format.pageSize == layout.pageSize) }
        }
        #expect(try file.verify(key: Self.key.key).isSound)
    }

    @Test(arguments: [3, 4].filter { $0 <= own })
    func aBitFlippedInALogIsFoundOnItsPage(format: Int) throws {
        // Copied while it is open: all rows stand in the log.
        let source = folder.file("source.db")
        let layout = try #require(CipherFormat.standard.first { $0.version == format })
        let queue = try DatabaseQueue(
            path: source,
            key: Self.key.key,
            configuration: Configuration {
                $0.journalMode = .wal
                $0.format = layout
            }
        )
        try queue.inDatabase { database in
            try database.executeStatements(
                "PRAGMA wal_autocheckpoint = 0;" + SampleFile.script + "PRAGMA wal_checkpoint;"
            )
            try database.executeStatements("UPDATE people SET note = randomblob(100)")
        }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix) }
        try queue.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let frame = 24 + layout.pageSize
        // The frames since the log began anew have its header's salts; behind them are older ones.
        let numbers = (0..<((log.count - 32) / frame)).map { 32 + $0 * frame }
            .prefix { log[($0 + 8)..<($0 + 16)] == log[16..<24] }
            .map { start in log[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) } }
        #expect(numbers.count > 5)
        var random = SplitMix(7)
        let file = DatabaseFile(path: path)
        for _ in 0..<max(20, Self.flips / 10) {
            let number = Int.random(in: numbers.indices, using: &random)
            // Neither the salt of page 1 nor the padding of format 3.
            let place = Int.random(in: 16..<(layout.pageSize - 12), using: &random)
            try flip((32 + number * frame + 24 + place) * 8, of: path + "-wal")
            let found = try file.verify(key: Self.key.key, checksStructure: false).damagedPages
            // Where a later frame has the page, that is the one which counts.
            let isNewest = !numbers[(number + 1)...].contains(numbers[number])
            #expect(found == (isNewest ? [numbers[number]] : []), "frame \(number), page \(numbers[number])")
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try log.write(to: URL(fileURLWithPath: path + "-wal"))
        }
    }
}
