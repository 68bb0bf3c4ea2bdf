import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Single bits are flipped at random places.
@Suite(
    .slow,
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .atTheEnds
)
struct DamageTests {
    let directory: TemporaryDirectory
    let path: String
    static let key = SampleKey.named("secret")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private static var own: Int { Engine.current.formats.first?.version ?? 0 }

    func flip(_ bit: Int, of file: String) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(bit / 8))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(bit / 8))
        try handle.write(contentsOf: [byte ^ 1 << (bit % 8)])
    }

    @Test(arguments: [3, 4].filter { $0 <= own })
    func everyFlippedBitIsFoundOnItsPage(format: Int) throws {
        let shell = try #require(StockShell.all.last { $0.format >= format })
        try SampleFile.make(at: path, by: shell, key: Self.key, format: format, pageSize: 1024)
        let size = try FileState(path).bytes.count
        var trials = RandomTrials(
            "bits flipped in a file of format \(format)",
            "CIPHERDB_FLIPS",
            rounds: Extent.share(of: 50)
        )
        let file = DatabaseFile(path: path)
        let layout = try CipherFormat(#require(CipherFormat.standard.first { $0.version == format })) {
            $0.pageSize = 1024
        }
        while trials.goesOn() {
            // The salt is few of the bits, and has a share of its own.
            let isInSalt = Int.random(in: 0..<8, using: &trials.random) == 0
            let bit = Int.random(in: 0..<(isInSalt ? CipherFormat.saltSize : size) * 8, using: &trials.random)
            let (page, place) = (bit / 8 / 1024 + 1, bit / 8 % 1024)
            try flip(bit, of: path)
            defer { try? flip(bit, of: path) }
            // IV and HMAC fill the reserve but for the last 12 bytes of format 3.
            let isPadding = format == 3 && place >= 1012
            if page == 1, place < CipherFormat.saltSize {
                // Another salt is another authentication key, while a raw key decrypts all the same.
                expect(throws: KeyError.otherMACKey) { try file.verify(key: Self.key.key, checksStructure: false) }
                continue
            }
            let found = try file.verify(key: Self.key.key, checksStructure: page == 1)
            #expect(found.damagedPages == (isPadding ? [] : [page]), "bit \(bit)")
            if isPadding { #expect(found.format.pageSize == layout.pageSize) }
        }
        #expect(try file.verify(key: Self.key.key).isSound)
    }

    @Test(arguments: [3, 4].filter { $0 <= own })
    func flippedBitInWALIsFound(format: Int) throws {
        // Copied while it is open: all rows stand in the log.
        let source = directory.file("source.db")
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
                "PRAGMA wal_autocheckpoint = 0;" + SampleFile.content + "PRAGMA wal_checkpoint;"
            )
            try database.executeStatements("UPDATE people SET note = randomblob(100)")
        }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix) }
        try queue.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let database = try Data(contentsOf: URL(fileURLWithPath: path))
        let frame = 24 + layout.pageSize
        // The frames since the WAL restarted have its header's salts; behind them are older ones.
        let numbers = (0..<((log.count - 32) / frame)).map { 32 + $0 * frame }
            .prefix { log[($0 + 8)..<($0 + 16)] == log[16..<24] }
            .map { start in log[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) } }
        #expect(numbers.count > 5)
        var trials = RandomTrials(
            "bits flipped in a log of format \(format)",
            "CIPHERDB_LOG_FLIPS",
            rounds: Extent.share(of: 35)
        )
        let file = DatabaseFile(path: path)
        while trials.goesOn() {
            let isHeader = Int.random(in: 0..<4, using: &trials.random) == 0
            let number = Int.random(in: (isHeader ? -1 : 0)..<numbers.count, using: &trials.random)
            let place = Int.random(in: isHeader ? 0..<(number < 0 ? 32 : 24) : 24..<frame, using: &trials.random)
            let bit =
                (number < 0 ? place : 32 + number * frame + place) * 8 + Int.random(in: 0..<8, using: &trials.random)
            try flip(bit, of: path + "-wal")
            let found = try file.verify(key: Self.key.key, checksStructure: false)
            #expect(!found.isSound, "frame \(number), byte \(place)")
            // Neither the salt of page 1 nor the padding of format 3 is authenticated. Where a later frame has the page,
            // that is the one which counts.
            if !isHeader, (40..<(frame - 12)).contains(place), !numbers[(number + 1)...].contains(numbers[number]) {
                #expect(found.damagedPages == [numbers[number]], "frame \(number), byte \(place)")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == database)
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try log.write(to: URL(fileURLWithPath: path + "-wal"))
        }
    }
}

/// Bits flipped in what stands beside a database.
extension DamageTests {
    /// A database with a transaction that was cut off: its pages are in the file, their images in the journal.
    private func makeHotJournal(_ layout: CipherFormat) throws -> (file: Data, journal: Data) {
        let source = directory.file("source.db")
        let database = Database(path: source, configuration: Configuration { $0.format = layout })
        try database.open(key: Self.key.key)
        try database.executeStatements(SampleFile.content + "CREATE TABLE more (a);")
        try database.executeStatements("PRAGMA cache_size = 1; BEGIN; UPDATE people SET note = randomblob(100)")
        try database.executeStatements("INSERT INTO more SELECT randomblob(500) FROM people")
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix)
        }
        try database.rollback()
        database.close()
        return try (
            Data(contentsOf: URL(fileURLWithPath: path)), Data(contentsOf: URL(fileURLWithPath: path + "-journal"))
        )
    }

    @Test(arguments: [3, 4].filter { $0 <= own })
    func flippedBitInHotJournalIsFound(format: Int) throws {
        let layout = try CipherFormat(#require(CipherFormat.standard.first { $0.version == format })) {
            $0.pageSize = 1024
        }
        let (database, journal) = try makeHotJournal(layout)
        let file = DatabaseFile(path: path)
        func number(_ offset: Int) -> Int { journal[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
        // Headers that count records, as SQLite writes them at each sync; behind the last one records that it does not count.
        let sector = number(20)
        var counted: [Range<Int>] = []
        var headers: [Int] = []
        var start = 0
        while start + 28 <= journal.count, number(start + 8) > 0 {
            headers.append(start)
            let end = start + sector + number(start + 8) * 1032
            counted.append((start + sector)..<end)
            start = (end + sector - 1) / sector * sector
        }
        #expect(counted.count > 1 && (counted.map(\.count).reduce(0, +)) > 20 * 1032)
        var trials = RandomTrials(
            "bits flipped in a journal of format \(format)",
            "CIPHERDB_FLIPS",
            rounds: Extent.share(of: 40)
        )
        // That of the size of a sector, which places the pages that the key is looked for in.
        var place: Int? = 23
        while trials.goesOn() {
            let place =
                place.take()
                ?? (Int.random(in: 0..<4, using: &trials.random) == 0
                    ? headers.randomElement(using: &trials.random)! + Int.random(in: 0..<28, using: &trials.random)
                    : Int.random(in: counted.randomElement(using: &trials.random)!, using: &trials.random))
            // The last 12 bytes of a page in format 3, which neither the HMAC nor SQLite's checksum covers.
            let record = counted.first { $0.contains(place) }.map { (place - $0.lowerBound) % 1032 }
            let isPadding = format == 3 && record.map { (4 + 1012..<4 + 1024).contains($0) } == true
            try flip(place * 8 + Int.random(in: 0..<8, using: &trials.random), of: path + "-journal")
            let found = try file.verify(key: Self.key.key, checksStructure: isPadding)
            if isPadding {
                #expect(found.isSound, "\(place)")
            } else {
                #expect(
                    found.problems.first?.contains("rollback journal") == true,
                    "byte \(place), \(headers.last { $0 <= place }.map { place - $0 } ?? -1) of its part"
                )
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == database)
                let error = #expect(throws: DatabaseError.self) {
                    try file.changeKey(from: Self.key.key, to: .sample("new"))
                }
                #expect(error?.code.primary == .corrupt)
            }
            try database.write(to: URL(fileURLWithPath: path))
            try journal.write(to: URL(fileURLWithPath: path + "-journal"))
        }
        #expect(try file.verify(key: Self.key.key).isSound)
        #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
    }

    @Test(arguments: StockShell.all.filter { $0.format <= own }, ["DELETE", "TRUNCATE", "PERSIST", "WAL"])
    func killedWriterLeavesNoDamage(shell: StockShell, mode: String) throws {
        try SampleFile.make(at: path, by: shell, key: Self.key)
        let round =
            "BEGIN; UPDATE people SET note = randomblob(100); INSERT INTO people (name) VALUES ('new'); COMMIT;\n"
        let settings = "PRAGMA \(Self.key.pragma); PRAGMA journal_mode = \(mode); PRAGMA cache_size = 5;\n"
        var random = SplitMix(5)
        for _ in 0..<(Extent.isComplete ? 6 : 2) {
            _ = try Program.run(
                shell.path,
                ["-batch", path],
                input: settings + String(repeating: round, count: 2000),
                killedAfter: Double.random(in: 0.1...0.4, using: &random)
            )
            let found = try DatabaseFile(path: path).verify(key: Self.key.key)
            #expect(found.isSound, "\(found)")
        }
    }

    @Test(arguments: [JournalMode.delete, .persist, .wal])
    func concurrentWriterIsNoDamage(mode: JournalMode) throws {
        let queue = try DatabaseQueue(
            path: path,
            key: Self.key.key,
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        let (stop, done) = (Gate(), Gate())
        Thread {
            while !stop.passed {
                try? queue.inTransaction { try $0.executeStatements("UPDATE people SET note = randomblob(100)") }
            }
            done.open()
        }.start()
        for _ in 0..<(Extent.isComplete ? 20 : 8) {
            let found = try DatabaseFile(path: path).verify(key: Self.key.key)
            #expect(found.isSound, "\(found)")
        }
        stop.open()
        done.wait()
        try queue.close()
    }

    /// A journal with all pages of `old`, as SQLite writes it.
    private func journal(of old: Data, pageSize size: Int) -> Data {
        var journal = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
        func append(_ number: Int) {
            journal.append(contentsOf: (0..<4).reversed().map { UInt8(number >> ($0 * 8) & 255) })
        }
        let pages = old.count / size
        for number in [pages, 0, pages, 512, size] { append(number) }
        journal.append(Data(count: 512 - journal.count))
        for page in 0..<pages {
            let bytes = old[(page * size)..<((page + 1) * size)]
            append(page + 1)
            journal.append(bytes)
            append(stride(from: size - 200, to: 0, by: -200).reduce(0) { $0 + Int(bytes[bytes.startIndex + $1]) })
        }
        return journal
    }

    @Test func superJournalIsPlayedWhileOpen() throws {
        let database = Database(path: path)
        try database.open(key: Self.key.key)
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES ('before')")
        let size = try #require(database.cipherFormat?.pageSize)
        let old = try Data(contentsOf: URL(fileURLWithPath: path))
        try database.executeStatements("UPDATE t SET a = 'after'")
        database.close()
        let several = directory.file("several")
        var journal = journal(of: old, pageSize: size)
        func append(_ number: Int) {
            journal.append(contentsOf: (0..<4).reversed().map { UInt8(number >> ($0 * 8) & 255) })
        }
        append((1 << 30) / size + 1)
        journal.append(contentsOf: several.utf8)
        append(several.utf8.count)
        append(several.utf8.reduce(0) { $0 + Int($1) })
        journal.append(contentsOf: [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
        try journal.write(to: URL(fileURLWithPath: path + "-journal"))
        for (isOpen, content) in [(true, "before"), (false, "after")] {
            if isOpen {
                _ = try directory.write([1], to: "several")
            } else {
                try FileManager.default.removeItem(atPath: several)
            }
            let saved = directory.file("saved \(content).db")
            #expect(try DatabaseFile(path: path).recover(key: Self.key.key, to: saved).isComplete)
            let recovered = Database(path: saved)
            try recovered.open(key: Self.key.key)
            #expect(try recovered.string(forQuery: "SELECT a FROM t") == content)
        }
        // SQLite is of the same mind.
        #expect(try DatabaseFile(path: path).verify(key: Self.key.key).isSound)
        try database.open(key: Self.key.key)
        #expect(try database.string(forQuery: "SELECT a FROM t") == "after")
    }

    @Test func interruptedRekeyKeepsOldKey() throws {
        let source = directory.file("source.db")
        let other = try DatabaseKey.random()
        let queue = try DatabaseQueue(path: source, key: Self.key.key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        // What a kill leaves: the file as it would be, and the journal with what it was.
        let old = try Data(contentsOf: URL(fileURLWithPath: source))
        try DatabaseFile(path: source).changeKey(from: Self.key.key, to: other)
        let size = try #require(Engine.current.formats.first?.pageSize)
        let journal = journal(of: old, pageSize: size)
        try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: path))
        try journal.write(to: URL(fileURLWithPath: path + "-journal"))
        let file = DatabaseFile(path: path)
        expect(throws: KeyError.journalUnderOtherKey) { try file.inspect(key: other) }
        #expect(try file.inspect(key: Self.key.key).pageCount == old.count / size)
    }
}
