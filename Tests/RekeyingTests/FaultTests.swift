import CipherDB
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

#if DEBUG || FAULTS
    /// Each call of the system fails once, the first, the second, and so on until the operation needs no more of them.
    @Suite(.slow) struct FaultTests {
        let directory: TemporaryDirectory
        let path: String
        // Raw keys: nothing is derived a hundred times.
        let old: DatabaseKey
        let new: DatabaseKey

        init() throws {
            old = try .random()
            new = try .random()
            directory = try TemporaryDirectory()
            path = directory.file("test.db")
        }

        /// What the file is under, to begin with or afterwards; nil for plaintext.
        private enum Operation: CaseIterable, Sendable {
            case change, encrypt, decrypt, migrate
        }

        /// Runs it in the direction in which the file is now, so that each run has something to do.
        private func run(_ operation: Operation, back: Bool) throws {
            let file = DatabaseFile(path: path)
            let kept = directory.file("kept.db")
            switch (operation, back) {
            case (.change, false): try file.changeKey(from: old, to: new, keepingOldAs: kept)
            case (.change, true): try file.changeKey(from: new, to: old, keepingOldAs: kept)
            case (.encrypt, false), (.decrypt, true): try file.encrypt(with: old, keepingOldAs: kept)
            case (.encrypt, true), (.decrypt, false): try file.decryptToPlaintext(key: old, keepingOldAs: kept)
            case (.migrate, _):
                let own = try #require(Engine.current.formats.first)
                let format = back ? own : try CipherFormat(own) { $0.pageSize = 8192 }
                try file.migrate(key: back ? new : old, to: back ? old : new, format: format, keepingOldAs: kept)
            }
        }

        /// Whether the file is what the operation begins with, or what it leads to.
        private func state(_ operation: Operation) throws -> (before: Bool, after: Bool) {
            switch operation {
            case .change: try (opens(old), opens(new))
            case .migrate: try (opens(old), opens(new, pageSize: 8192))
            case .encrypt: try (opens(nil), opens(old))
            case .decrypt: try (opens(old), opens(nil))
            }
        }

        private func opens(_ key: DatabaseKey?, pageSize: Int? = nil) throws -> Bool {
            let format = try pageSize.map { size in
                try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = size }
            }
            let database = Database(
                path: path,
                configuration: Configuration {
                    $0.allowsPlaintext = key == nil
                    $0.format = format
                }
            )
            do {
                try database.open(flags: .readWrite)
                if let key { try database.setKey(key) }
                _ = try database.int(forQuery: "SELECT 1 FROM people")
            } catch is KeyError {
                return false
            }
            defer { database.close() }
            #expect(try database.string(forQuery: SampleFile.question) == SampleFile.answer)
            // Nothing is left locked.
            try database.executeStatements("BEGIN EXCLUSIVE; ROLLBACK")
            return true
        }

        /// ENOSPC, EIO, EACCES.
        @Test(arguments: Extent.share(Extent.pairs(FaultInjection.Call.allCases, [28, 5, 13] as [Int32])))
        func failureAnywhereLeavesOldOrNewKey(call: FaultInjection.Call, code: Int32) throws {
            for operation in Operation.allCases {
                try? FileManager.default.removeItem(atPath: path)
                let queue = try DatabaseQueue(
                    path: path,
                    key: operation == .encrypt ? nil : old,
                    configuration: Configuration { $0.allowsPlaintext = operation == .encrypt }
                )
                try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
                try queue.close()
                try failEachCall(operation, call, code)
            }
        }

        private func failEachCall(_ operation: Operation, _ call: FaultInjection.Call, _ code: Int32) throws {
            var isAfter = false
            var failures = 0
            for number in 0..<200 {
                let order = FaultInjection.Order(prefix: path, call: call, after: number, code: code)
                let (outcome, met) = FaultInjection.with(order) { try run(operation, back: isAfter) }
                let found = try state(operation)
                #expect(found.before != found.after, "\(operation): the one or the other")
                switch outcome {
                case .success:
                    #expect(found.after != isAfter)
                case .failure(let error as RekeyError) where error.code == .oldFileRemains:
                    #expect(found.after != isAfter, "\(operation): the new file is in force")
                    failures += 1
                case .failure(let error):
                    #expect(found.after == isAfter, "\(operation): the old file is in force: \(error)")
                    #expect("\(error)".contains(directory.path), "the message names the file: \(error)")
                    failures += 1
                }
                isAfter = found.after
                _ = try DatabaseFile(path: path).cleanUp()
                try? FileManager.default.removeItem(atPath: directory.file("kept.db"))
                #expect(directory.names == ["test.db"], "nothing is left")
                if !met { break }
                #expect(number < 199, "more calls than this test knows")
            }
            #expect(failures > 0, "\(operation): no call of this kind failed")
        }

        @Test func partialWriteContinues() throws {
            let queue = try DatabaseQueue(path: path, key: old)
            try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
            try queue.close()
            let order = FaultInjection.Order(prefix: path, call: .write, after: 0, code: nil, persists: true)
            let (outcome, met) = FaultInjection.with(order) {
                try DatabaseFile(path: path).changeKey(from: old, to: new)
            }
            _ = try outcome.get()
            #expect(met)
            #expect(try opens(new) && !opens(old))
        }
    }
#endif
