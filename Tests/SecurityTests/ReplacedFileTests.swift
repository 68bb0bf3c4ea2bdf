import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

#if DEBUG || FAULTS
    /// Another user may write to the directory, and exchanges files just before a call that names one of them: later than any check.
    @Suite struct ReplacedFileTests {
        enum Operation: CaseIterable, Sendable {
            case change, encrypt, decrypt, migrate
        }

        let directory: TemporaryDirectory
        let path: String
        let kept: String
        let stolen: String
        let key: DatabaseKey

        init() throws {
            directory = try TemporaryDirectory()
            // As the engine names it.
            path = URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path + "/test.db"
            (kept, stolen) = (directory.file("kept.db"), directory.file("stolen"))
            key = try .random()
        }

        private func make(_ operation: Operation) throws {
            let isPlaintext = operation == .encrypt
            let queue = try DatabaseQueue(
                path: path,
                key: isPlaintext ? nil : key,
                configuration: Configuration { $0.allowsPlaintext = isPlaintext }
            )
            try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
            try queue.close()
        }

        private func run(_ operation: Operation, keeping kept: String? = nil) throws {
            let file = DatabaseFile(path: path)
            switch operation {
            case .change: try file.changeKey(from: key, to: .random(), keepingOldAs: kept)
            case .encrypt: try file.encrypt(with: key, keepingOldAs: kept)
            case .decrypt: try file.decryptToPlaintext(key: key, keepingOldAs: kept)
            case .migrate:
                let own = try #require(Engine.current.formats.first)
                try file.migrate(key: key, format: CipherFormat(own) { $0.pageSize = 8192 }, keepingOldAs: kept)
            }
        }

        /// Runs `body`; another user does `action` just before the call number `after` of this kind.
        private func run(
            _ call: FaultInjection.Call,
            after: Int = 0,
            _ path: String,
            _ action: @escaping @Sendable () -> Void,
            _ body: () throws -> Void
        ) throws {
            let order = FaultInjection.Order(prefix: path, call: call, after: after, code: nil, action: action)
            let (outcome, met) = FaultInjection.with(order, body)
            #expect(met)
            _ = try outcome.get()
        }

        /// The new files, which have one name; the old file's link has two.
        private static func temporaryFiles(_ path: String, _ infix: String, links: Int) -> [String] {
            ((try? FileCalls.names(beside: path)) ?? []).map { FileCalls.sibling($0, of: path) }.filter {
                $0.hasPrefix(path + infix) && (try? Platform.statusOfLink($0).linkCount) == links
            }
        }

        /// Puts a file of the other user's in the place of the new one, which he keeps.
        private static func replace(_ path: String, _ infix: String, stolen: String) {
            for new in temporaryFiles(path, infix, links: 1) {
                #expect(rename(new, stolen) == 0)
                #expect(FileManager.default.createFile(atPath: new, contents: Data("evil".utf8)))
            }
        }

        /// What has a name of neither a run's nor the tests'.
        private var others: [String] { directory.names.filter { $0.contains(".replaced-") } }

        // MARK: Databases

        @Test(arguments: Operation.allCases) func fileReplacedBeforeRenameIsNotInForce(operation: Operation) throws {
            try make(operation)
            let before = try FileState(path)
            #expect(throws: DatabaseError.self) {
                try run(.rename, path, { [path, stolen] in Self.replace(path, ".rekey-", stolen: stolen) }) {
                    try run(operation, keeping: kept)
                }
            }
            #expect(try FileState(path) == before)
            let taken = try FileState(stolen).bytes
            #expect(!taken.isEmpty)
            #expect(operation != .decrypt || taken.range(of: Data("SQLite format".utf8)) == nil, "no plaintext is left")
            let other = try #require(others.first)
            #expect(try FileState(directory.file(other)).bytes == Data("evil".utf8))
            #expect(directory.names == ["stolen", "test.db", other].sorted())
        }

        @Test func replacedDatabaseAndLinkAreReported() throws {
            try make(.change)
            let before = try FileState(path)
            let away = directory.file("away")
            #expect {
                try run(
                    .rename,
                    path,
                    { [path, stolen] in
                        for link in Self.temporaryFiles(path, ".rekey-", links: 2) { #expect(rename(link, away) == 0) }
                        Self.replace(path, ".rekey-", stolen: stolen)
                    }
                ) { try run(.change, keeping: kept) }
            } throws: {
                ($0 as? RekeyError).map { $0.code == .undecided } ?? false
            }
            #expect(try FileState(away) == before)
            #expect(try FileState(kept).bytes == before.bytes)
            #expect(try FileState(path).bytes == Data("evil".utf8))
        }

        /// A link that leads to another file is not put back as the old file.
        @Test func replacedLinkIsNotPutBack() throws {
            try make(.change)
            let before = try FileState(path)
            let away = directory.file("away")
            #expect(throws: RekeyError.self) {
                try run(
                    .rename,
                    path,
                    { [path, stolen] in
                        let links = Self.temporaryFiles(path, ".rekey-", links: 2)
                        Self.replace(path, ".rekey-", stolen: stolen)
                        for link in links {
                            #expect(rename(link, away) == 0)
                            #expect(FileManager.default.createFile(atPath: link, contents: Data("worse".utf8)))
                        }
                    }
                ) { try run(.change) }
            }
            #expect(try FileState(away) == before)
            #expect(try FileState(path).bytes == Data("evil".utf8))
        }

        @Test func replacedDatabaseIsNotRenamedOver() throws {
            try make(.change)
            let file = DatabaseFile(path: path)
            let before = try FileState(path)
            #expect(throws: DatabaseError.self) {
                // The hard link of the old file is the last call before.
                try run(
                    .link,
                    path,
                    { [path, stolen] in
                        Self.replace(path, ".rekey-", stolen: stolen)
                    }
                ) { try run(.change) }
            }
            #expect(try FileState(path) == before)
            #expect(others.isEmpty, "the name was not given to another file")
            #expect(try file.verify(key: key).isSound)
        }

        @Test func replacedCopyIsNotKept() throws {
            try make(.change)
            let before = try FileState(path)
            #expect(throws: DatabaseError.self) {
                try run(
                    .link,
                    path,
                    { [path, stolen] in
                        // The copy, and not the new file.
                        for new in Self.temporaryFiles(path, ".rekey-", links: 1)
                        where FileManager.default.contentsEqual(atPath: new, andPath: path) {
                            _ = rename(new, stolen)
                            _ = FileManager.default.createFile(atPath: new, contents: Data("evil".utf8))
                        }
                    }
                ) { try run(.change, keeping: kept) }
            }
            #expect(try FileState(path) == before)
            #expect(!directory.names.contains("kept.db"))
        }

        @Test func movedOldFileIsErased() throws {
            try make(.encrypt)
            // More than what is overwritten first, so that who has the file open sees it.
            let text = [UInt8](repeating: UInt8(ascii: "x"), count: 500_000)
            let database = Database(path: path, configuration: Configuration { $0.allowsPlaintext = true })
            try database.open(flags: .readWrite)
            try database.executeUpdate("CREATE TABLE large (a)")
            try database.executeUpdate("INSERT INTO large VALUES (\(String(decoding: text, as: UTF8.self)))")
            database.close()
            // After the exchange the old file has one name, and the new one the database's.
            try run(
                .sync,
                after: 1,
                path,
                { [path, stolen] in
                    for link in Self.temporaryFiles(path, ".rekey-", links: 1) { #expect(rename(link, stolen) == 0) }
                }
            ) { try run(.encrypt) }
            #expect(try DatabaseFile(path: path).verify(key: key).isSound)
            let left = try FileState(stolen).bytes
            #expect(left.count > text.count && left.range(of: Data(text.prefix(100))) == nil)
        }

        // MARK: Keyrings

        @Test func keyringReplacedBeforeRenameIsNotInForce() throws {
            let path = directory.file("a.keyring")
            let (first, second) = try (
                KeyringSecret.keyFile(.random(count: 32)), KeyringSecret.keyFile(.random(count: 32))
            )
            let keyring = Keyring(path: path)
            let unlocked = try keyring.create(with: first)
            let before = try FileState(path)
            expect(throws: KeyringError.busy) {
                try run(.rename, path, { [stolen] in Self.replace(path, ".new-", stolen: stolen) }) {
                    try unlocked.add(second)
                }
            }
            #expect(try FileState(path) == before)
            #expect(try keyring.unlock(first).content().slots.count == 1)
            let other = try #require(others.first)
            #expect(directory.names == ["a.keyring", other, "stolen"].sorted())
            try keyring.unlock(first).add(second)
            #expect(directory.names == ["a.keyring", other, "stolen"].sorted(), "the old keyring has no hard link")
        }

        @Test func replacedNewKeyringIsNotMade() throws {
            let path = directory.file("a.keyring")
            expect(throws: KeyringError.busy) {
                try run(.link, path, { [stolen] in Self.replace(path, ".new-", stolen: stolen) }) {
                    try Keyring(path: path).create(with: .keyFile(.random(count: 32)))
                }
            }
            #expect(directory.names == ["stolen"])
        }
    }
#endif
