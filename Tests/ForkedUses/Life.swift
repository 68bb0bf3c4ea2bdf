import CForking
import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport

@testable import CipherBackup

/// The life of one database, from its key to a change of it. At each point the process has a child, which uses all there is, and starts a
/// program.
final class Life: Sendable {
    private let way: Way
    private let scene: Scene

    static let points =
        [
            "a key", "an open file", "a keyed file", "a transaction", "a row", "a blob", "a closed database", "a queue",
            "a block", "a migration", "an attached file", "a function", "a pool", "a block that reads",
            "a change of key", "a keyring", "a backup", "a rewrite",
            "a child that keeps a repository open",
        ] + Leaving.allCases.map { "a child that leaves \($0)" }
    static let refused = "refused"

    init(_ way: Way) throws {
        self.way = way
        scene = try Scene()
    }

    func run() throws {
        let key = try Scene.key()
        let path = scene.newPath
        var database = Database(path: path)
        at("a key") { [{ try Database(path: path).open(key: key) }] }
        try database.open()
        at("an open file") {
            [
                { try database.setKey(key) }, { try database.setKey(Scene.key()) },
                { try database.executeUpdate("CREATE TABLE u (a)") },
            ]
        }
        try database.setKey(key)
        at("a keyed file") { writes(database) }
        try database.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try database.beginTransaction()
        for number in 1...300 { try database.executeUpdate("INSERT INTO t VALUES (?, zeroblob(900))", number) }
        at("a transaction") { writes(database) + [{ try database.commit() }, { try database.rollback() }] }
        try database.commit()
        let rows = try database.executeQuery("SELECT id FROM t")
        _ = try rows.next()
        at("a row") { writes(database) + [{ _ = try rows.next() }] }
        rows.close()
        let blob = try database.openBlob(inTable: "t", column: "a", row: 1, writable: true)
        try blob.write(Data([1]), at: 0)
        at("a blob") {
            writes(database) + [{ try blob.write(Data([2]), at: 0) }, { try Life.close { try blob.close() } }]
        }
        try blob.close()
        database.close()
        at("a closed database") { [{ try database.open(key: key) }] }

        let queue = try DatabaseQueue(path: path, key: key)
        at("a queue") { writes(queue) }
        try queue.inDatabase { database in
            try database.executeUpdate("INSERT INTO t (a) VALUES (1)")
            at("a block") { writes(database) + writes(queue) }
        }
        try queue.migrate([
            Migration("a step") { [self] database in at("a migration") { writes(database) + writes(queue) } }
        ])
        try queue.inDatabase { database in
            try database.attach(path + ".attached", as: "other", key: key)
            at("an attached file") { writes(database) + [{ try database.executeUpdate("CREATE TABLE other.u (a)") }] }
            try database.executeUpdate("DETACH other")
            let here = Smuggled(database)
            try database.makeFunction(named: "point") { [self] _ in
                at("a function") { writes(here.value) }
                return nil
            }
            _ = try database.int(forQuery: "SELECT point()")
        }
        try queue.close()

        let pool = try DatabasePool(path: path, key: key)
        try pool.write { try $0.executeUpdate("INSERT INTO t (a) VALUES (2)") }
        at("a pool") { writes(pool) }
        try pool.read { database in
            _ = try database.int(forQuery: "SELECT count(*) FROM t")
            at("a block that reads") { writes(database) + writes(pool) }
        }
        try pool.rekey(Scene.key("second"))
        at("a change of key") { writes(pool) }
        try pool.close()

        let keyring = try scene.keyring.unlock(Scene.secret())
        at("a keyring") {
            [
                { _ = try keyring.databaseKey() },
                { _ = try DatabaseQueue(path: self.scene.keyedPath, key: keyring) },
            ]
        }
        let second = try Scene.key("second")
        let repository = scene.repository
        _ = try DatabaseFile(path: path).copy(key: second, to: path + ".copy")
        var isSeen = false
        _ = try DatabaseFile(path: scene.path).backUp(to: repository, key: key) { _ in
            guard !isSeen else { return }
            isSeen = true
            at("a backup") { [{ _ = try DatabaseFile(path: path).backUp(to: repository, key: second) }] }
        }
        isSeen = false
        let third = try Scene.key("third")
        _ = try DatabaseFile(path: path).changeKey(from: second, to: third) { progress in
            guard progress.stage == .verifying, !isSeen else { return }
            isSeen = true
            at("a rewrite") { [{ _ = try DatabaseFile(path: path).changeKey(from: second, to: third) }] }
        }
        try keepRepositoryOpen(path, third)
        for leaving in Leaving.allCases { try leave(leaving, path, third) }
        database = Database(path: path)
        try database.open(key: Scene.key("third"), flags: .readWrite)
        guard try database.integrityCheck().isEmpty, try database.int(forQuery: "SELECT count(*) FROM t") == 302 else {
            return print("the rows are not those that were written")
        }
        database.close()
        try scene.check()
    }

    private func writes(_ database: Database) -> [() throws -> Void] {
        [
            { try database.executeUpdate("CREATE TABLE u (a)") },
            { try database.executeStatements("DELETE FROM t") },
            { try database.rekey(Scene.key("child")) },
            { _ = try database.checkpoint(.truncate) },
            { try database.backup(to: self.scene.newPath + ".backup") },
            { try Life.close { database.close() } },
        ]
    }

    private func writes(_ writer: some DatabaseWriter) -> [() throws -> Void] {
        [
            { try writer.write { try $0.executeUpdate("CREATE TABLE u (a)") } },
            { try writer.inDatabase { try $0.executeUpdate("DELETE FROM t") } },
            { try writer.rekey(Scene.key("child")) },
            { try writer.checkpoint(.truncate) },
            { try writer.backup(to: self.scene.newPath + ".backup") },
            { try Life.close { try writer.close() } },
        ]
    }

    /// Closing is no error, and does nothing to the file.
    private static func close(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw NotClosed(cause: error)
        }
        throw UsedAfterFork.database
    }

    private struct NotClosed: Error { let cause: any Error }

    /// Prints a line: whether all uses were refused in a child, and what else was not as expected.
    private func at(_ point: String, _ uses: () -> [() throws -> Void]) {
        let uses = uses()
        let before = content()
        let fork = Fork(way)
        if fork.isChild {
            let accepted = uses.enumerated().filter { number, use in
                do {
                    try use()
                    return true
                } catch is UsedAfterFork {
                    return false
                } catch {
                    fork.answer("\(number): \(error); ")
                    return false
                }
            }
            fork.answer(accepted.isEmpty ? Life.refused : "accepted \(accepted.map(\.offset))")
            fork.endProcess()
        }
        var line = "\(point): \(fork.collect())"
        if cforking_spawn() != 0 { line += ", no program was started" }
        let after = content()
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
        if !changed.isEmpty { line += ", changed \(changed.joined(separator: " "))" }
        print(line)
    }

    /// A child that lives on keeps no lock of its parent's.
    private func keepRepositoryOpen(_ path: String, _ key: DatabaseKey) throws {
        let repository = BackupRepository(scene.newPath + ".open")
        var child: Fork?
        _ = try DatabaseFile(path: path).backUp(to: repository, key: key) { _ in
            guard child == nil else { return }
            // Of a daemon's child this process does not know the number.
            let fork = Fork(way == .daemon ? .fork : way)
            if fork.isChild { while true { sleep(1) } }
            child = fork
        }
        let outcome = Result { try DatabaseFile(path: path).backUp(to: repository, key: key) }
        child?.stop()
        _ = child?.collect()
        _ = try outcome.get()
        print("a child that keeps a repository open: \(Life.refused)")
    }

    private struct Left: Error {}

    /// Forks a child in the closure that shows progress, which then returns or throws there. What the parent makes must be whole.
    private func leave(_ operation: Leaving, _ path: String, _ key: DatabaseKey) throws {
        var answers: [String] = []
        for isThrown in [false, true] {
            let made = "\(scene.newPath).\(operation).\(isThrown)"
            var child: Fork?
            func progress() throws {
                guard child == nil else { return }
                let fork = Fork(way)
                guard fork.isChild else { return answers.append(operation.read(fork.collect())) }
                child = fork
                if isThrown { throw Left() }
            }
            do {
                try operation.run(path, key, made, progress)
                if let child {
                    child.answer("accepted")
                    child.endProcess()
                }
            } catch {
                guard let child else { throw error }
                child.answer(error is UsedAfterFork || error is Left ? Life.refused : "\(error)")
                child.endProcess()
            }
            try operation.check(path, key, made)
        }
        print("a child that leaves \(operation): \(Set(answers).count == 1 ? answers[0] : "\(answers)")")
    }

    private func content() -> [String: Data] { (try? scene.content()) ?? [:] }
}

extension Database {
    /// Whether the engine is of SQLite 3.35 or later.
    fileprivate var hasReturning: Bool {
        get throws {
            try int(forQuery: "SELECT sqlite_version() GLOB '3.[3-9][5-9]*' OR sqlite_version() GLOB '3.[4-9]*'") == 1
        }
    }
}

/// What calls a closure.
enum Leaving: CaseIterable {
    case backup, plaintext, generation, segments, copy, restore, recovery, change
    case binding, decoding, function

    /// What a child told. One that comes back into the engine ends without a word.
    func read(_ answer: String) -> String {
        self == .function && ["", " (status \(70 << 8))"].contains(answer) ? Life.refused : answer
    }

    /// A value that calls the closure when it is bound, and when it is read.
    private struct Value: ColumnEncodable, ColumnDecodable {
        // It is read in the call that was given the closure.
        nonisolated(unsafe) static var closure: () throws -> Void = {}

        var databaseValue: DatabaseValue { .integer(1) }

        func bind(to parameter: Parameter) throws {
            try parameter.bind(1 as Int64)
            try Value.closure()
        }

        static func decode(_ column: ResultColumn) throws -> Value {
            try closure()
            return Value()
        }
    }

    func run(_ path: String, _ key: DatabaseKey, _ made: String, _ progress: () throws -> Void) throws {
        let file = DatabaseFile(path: path)
        switch self {
        case .backup:
            let database = Database(path: path)
            try database.open(key: key)
            defer { database.close() }
            try database.backup(to: made, pagesPerStep: 10) { _ in try progress() }
        case .plaintext:
            // The engine needs no secret for its pages.
            let database = Database(path: made + ".plaintext", configuration: Leaving.withoutKey)
            try database.open()
            defer { database.close() }
            try database.executeStatements(
                """
                CREATE TABLE t (a);
                WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 302)
                INSERT INTO t SELECT zeroblob(900) FROM n
                """
            )
            try database.backup(to: made, pagesPerStep: 10) { _ in try progress() }
        case .generation:
            _ = try file.backUp(to: BackupRepository(made), key: key) { _ in try progress() }
        case .segments:
            let storage = BackupRepository(made).storage
            try storage.prepare()
            let writer = SegmentWriter(storage, repository: [UInt8](repeating: 1, count: 16))
            let hash = try Cryptography.SHA256()
            for index in 0..<3 {
                let page = [UInt8](repeating: UInt8(index), count: 4096)
                _ = try page.withUnsafeBytes { try writer.append(block: $0, 16 * index, hash.digest(of: $0)) }
                try writer.finish()
            }
            do {
                try writer.store(beforeEach: progress)
            } catch {
                writer.discard()
                throw error
            }
        case .copy: _ = try file.copy(key: key, to: made) { _ in try progress() }
        case .restore:
            _ = try file.backUp(to: BackupRepository(made + ".backups"), key: key)
            try DatabaseFile(path: made).restore(from: BackupRepository(made + ".backups"), key: key) { _ in
                try progress()
            }
        case .recovery: _ = try file.recover(key: key, to: made) { _ in try progress() }
        case .binding, .decoding, .function:
            _ = try file.copy(key: key, to: made)
            let database = Database(path: made)
            try database.open(key: key)
            defer { database.close() }
            try withoutActuallyEscaping(progress) { closure in
                Value.closure = closure
                defer { Value.closure = {} }
                try database.makeFunction(named: "leave", arguments: 0) { _ in
                    try Value.closure()
                    return 1
                }
                switch self {
                case .binding: try database.executeUpdate("INSERT INTO t VALUES (303, ?)", Value())
                case .decoding:
                    let sql: SQL =
                        try database.hasReturning ? "INSERT INTO t VALUES (303, 1) RETURNING id" : "SELECT id FROM t"
                    _ = try database.value(forQuery: sql) as Value?
                default: try database.executeUpdate("INSERT INTO t VALUES (303, leave())")
                }
            }
            try database.executeUpdate("DELETE FROM t WHERE id = 303")
        case .change:
            _ = try file.copy(key: key, to: made)
            try DatabaseFile(path: made).changeKey(from: key, to: Scene.key("fourth")) { _ in try progress() }
        }
    }

    private struct Damaged: Error {}
    private static let withoutKey = Configuration { $0.allowsPlaintext = true }

    func check(_ path: String, _ key: DatabaseKey, _ made: String) throws {
        if self == .segments {
            guard try BackupRepository(made).storage.names(in: "segments").count == 3 else { throw Damaged() }
            return
        }
        if self == .change, try !DatabaseFile(path: made).cleanUp().isEmpty { throw Damaged() }
        var made = made
        if self == .generation {
            let restored = made + ".restored"
            try DatabaseFile(path: restored).restore(from: BackupRepository(made), key: key)
            made = restored
        }
        let database = Database(path: made, configuration: Leaving.withoutKey)
        if self == .plaintext {
            try database.open(flags: .readWrite)
        } else {
            try database.open(key: self == .change ? Scene.key("fourth") : key, flags: .readWrite)
        }
        defer { database.close() }
        guard try database.integrityCheck().isEmpty, try database.int(forQuery: "SELECT count(*) FROM t") == 302 else {
            throw Damaged()
        }
    }
}
