import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// Disks that fail, and processes that are killed: no block is half done, and what returned is there.
extension SharedCommitTests {
    /// What a block stores: small rows, or such as are in the file before the commit.
    enum Work: CaseIterable {
        case row, large, thrown, undone, nested, swallowing, committing

        /// - Parameter insert: Inserts a row with this number.
        /// - Returns: The numbers of the rows that are to be there.
        func run(_ database: Database, _ insert: (Int) throws -> Void) throws -> Set<Int> {
            switch self {
            case .row, .thrown, .undone: try insert(0)
            case .large:
                try insert(0)
                try insert(1)
                return [0, 1]
            case .nested:
                try database.inSavePoint { _, rollback in
                    try insert(1)
                    rollback = true
                }
                try insert(0)
            case .swallowing: return Set((0...2).filter { (try? insert($0)) != nil })
            case .committing:
                try insert(0)
                try? database.commit()
            }
            if self == .thrown { throw Stop() }
            return self == .undone ? [] : [0]
        }
    }

    private struct Told {
        /// The numbers of its rows, where it ended well.
        var rows: Set<Int>?
        /// The blocks of which it saw rows.
        var seen: Set<Int> = []
        var outcome: Result<Void, any Error>?

        /// What it threw, other than for a reason of its own.
        var failure: DatabaseError? {
            guard case .failure(let error as DatabaseError) = outcome, error != .transactionEnded else { return nil }
            return error
        }
        /// Its error says that it may be stored all the same.
        var mayBeStored: Bool {
            if case .failure(let error as DatabaseError) = outcome {
                // Of a commit of its own it knows by itself.
                error == .transactionEnded || error.message.contains("may be there")
            } else {
                false
            }
        }
    }

    /// Blocks that ran together, and what became of each.
    private final class Story: Sendable {
        let told = Lock<[Int: Told]>([:])
        let returned = Lock<Set<Int>>([])

        func block(_ work: Work, _ id: Int) -> Block {
            { [self] database, rollback in
                let seen = try database.fetchAll(Int.self, "SELECT DISTINCT block FROM parts")
                told.withLock { $0[id] = Told(seen: Set(seen)) }
                let rows = try work.run(database) {
                    let size = work == .row || work == .nested ? 4 : 20000
                    try database.executeUpdate("INSERT INTO parts VALUES (\(id), \($0), randomblob(\(size)))")
                }
                rollback = work == .undone
                told.withLock { $0[id]?.rows = rows }
            }
        }
    }

    private func run(_ works: [Work], _ queue: DatabaseQueue, _ story: Story, from first: Int) async throws {
        let blocks = works.enumerated().map { story.block($1, first + $0) }
        let (outcomes, _) = try await together(
            queue,
            blocks,
            returned: { index in story.returned.withLock { _ = $0.insert(first + index) } }
        )
        story.told.withLock {
            for (index, outcome) in outcomes.enumerated() { $0[first + index, default: Told()].outcome = outcome }
        }
    }

    /// Looks what is stored, and whether a block can store more.
    private func check(_ path: String, _ story: Story, promised: Set<Int>?, _ what: String) throws {
        let queue = try DatabaseQueue(path: path, key: Self.key)
        defer { try? queue.close() }
        var stored: [Int: Set<Int>] = [:]
        try queue.write { database in
            for row in try database.fetchAll(Int.self, "SELECT 10 * block + part FROM parts") {
                stored[row / 10, default: []].insert(row % 10)
            }
            try database.executeUpdate("INSERT INTO parts VALUES (1000, 0, NULL)")
        }
        for (id, told) in story.told.withLock({ $0 }) {
            let (rows, all) = (stored[id] ?? [], told.rows ?? [])
            let isKept = promised?.contains(id) ?? ((try? told.outcome?.get()) != nil)
            if isKept {
                #expect(rows == all, "\(what): block \(id) returned")
            } else if promised != nil || told.mayBeStored {
                #expect(rows.isEmpty || rows == all, "\(what): half of block \(id)")
            } else {
                #expect(rows.isEmpty, "\(what): block \(id) threw \(String(describing: told.outcome))")
            }
            guard promised == nil, told.failure == nil, !told.mayBeStored else { continue }
            #expect(told.seen.allSatisfy { stored[$0] != nil }, "\(what): block \(id) saw \(told.seen)")
        }
    }

    private static let modes: [JournalMode] = [.wal, .delete] + (Extent.isComplete ? [.truncate, .persist] : [])

    @Test(arguments: Extent.share(Extent.pairs(Self.modes, Work.allCases)))
    func failingDiskHalvesNothing(mode: JournalMode, first: Work) async throws {
        let (live, cut) = (try TemporaryDirectory(), try TemporaryDirectory())
        let disk = FailingDisk(live.path)
        defer { disk.remove() }
        let configuration = Configuration {
            $0.journalMode = mode
            $0.vfs = disk.name
            $0.pageCacheSize = 1
        }
        let open = { try DatabaseQueue(path: live.file("test.db"), key: Self.key, configuration: configuration) }
        let made = try open()
        try await made.write { _ = try $0.executeUpdate("CREATE TABLE parts (block, part, content)") }
        try await made.close()
        let empty = try #require(FileManager.default.contents(atPath: live.file("test.db")))

        func restore(_ files: [String: Data], _ directory: TemporaryDirectory) throws {
            for name in directory.names { try FileManager.default.removeItem(atPath: directory.file(name)) }
            for (name, content) in files { _ = try directory.write(content, to: name) }
        }

        /// - Returns: Whether so many calls were made.
        func isMet(_ works: [Work], _ fault: FailingDisk.Fault, _ calls: Int) async throws -> Bool {
            try restore(["test.db": empty], live)
            let (queue, story) = (try open(), Story())
            disk.fail(fault, after: calls)
            try await run(works, queue, story, from: 1)
            let wasMet = fault != .brokenForGood && disk.hasFailed
            try await run(works, queue, story, from: 11)
            let failures = story.told.withLock { $0.filter { $0.key > 10 }.compactMap(\.value.failure) }
            // What the engine could not read while it undid a block, it takes for another file's once, when the next one begins.
            let known = fault == .unreadable && failures.map(\.code) == [.notADatabase]
            if wasMet, !known { #expect(failures.isEmpty, "\(mode) \(works) \(fault) \(calls): of no use") }
            try await queue.close()
            let isMet = disk.mend()
            try check(live.file("test.db"), story, promised: nil, "\(mode) \(works) \(fault) \(calls)")
            return isMet
        }

        func cuts(_ works: [Work]) async throws -> Int {
            try restore(["test.db": empty], live)
            let (queue, story) = (try open(), Story())
            disk.keepImages { story.returned.withLock { $0 } }
            for from in [1, 11] { try await run(works, queue, story, from: from) }
            try await queue.close()
            let images = disk.takeImages()
            for (index, image) in images.enumerated() {
                for (files, kind) in [(image.written, "killed"), (image.synced, "cut")] {
                    try restore(files, cut)
                    try check(cut.file("test.db"), story, promised: image.promised, "\(mode) \(works) \(kind) \(index)")
                }
            }
            return 2 * images.count
        }

        var (groups, longest) = ([[first]], [[first]])
        for _ in 1...(Extent.isComplete ? 2 : 1) {
            longest = longest.flatMap { group in
                (Extent.isComplete ? Work.allCases : [.row, .thrown] + (first == .row ? [.committing] : [])).map {
                    group + [$0]
                }
            }
            groups += longest
        }
        var count = 0
        for works in groups {
            for fault in FailingDisk.Fault.allCases {
                var calls = 0
                while try await isMet(works, fault, calls) { calls += 1 }
                count += calls
            }
            count += try await cuts(works)
        }
        print("\(mode.rawValue) \(first): \(groups.count) groups, \(count) cases")
    }
}
