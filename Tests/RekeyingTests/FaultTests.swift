import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

#if DEBUG
    /// Each call of the system fails once, the first, the second, and so on until the operation needs no more of them.
    @Suite struct FaultTests {
        let folder: TemporaryFolder
        let path: String
        // Raw keys: nothing is derived a hundred times.
        let old: DatabaseKey
        let new: DatabaseKey

        init() throws {
            old = try .random()
            new = try .random()
            folder = try TemporaryFolder()
            path = folder.file("test.db")
        }

        private func opens(_ key: DatabaseKey) throws -> Bool {
            let database = Database(path: path)
            do {
                try database.open(key: key, flags: .readWrite)
            } catch KeyError.wrongKey {
                return false
            }
            defer { database.close() }
            #expect(try database.string(forQuery: SampleFile.query) == SampleFile.answer)
            // Nothing is left locked.
            try database.executeStatements("BEGIN EXCLUSIVE; ROLLBACK")
            return true
        }

        /// ENOSPC, EIO, EACCES.
        @Test(arguments: Faults.Call.allCases, [28, 5, 13] as [Int32])
        func aFailureAnywhereLeavesTheOldOrTheNewKeyAndARunThatEndsClean(call: Faults.Call, code: Int32) throws {
            let queue = try DatabaseQueue(path: path, key: old)
            try queue.inDatabase { try $0.executeStatements(SampleFile.script) }
            try queue.close()
            var isNew = false
            var failures = 0
            for number in 0..<60 {
                let (from, to) = isNew ? (new, old) : (old, new)
                let order = Faults.Order(prefix: path, call: call, after: number, code: code)
                let (outcome, met) = Faults.with(order) {
                    try DatabaseFile(path: path).changeKey(from: from, to: to, keepingOldAs: folder.file("kept.db"))
                }
                let opened = try (opens(old), opens(new))
                #expect(opened.0 != opened.1, "exactly one key opens the file")
                switch outcome {
                case .success:
                    #expect(opened.1 != isNew)
                case .failure(RekeyError.oldFileRemains):
                    #expect(opened.1 != isNew, "the new key is in force")
                    failures += 1
                case .failure(let error):
                    #expect(opened.1 == isNew, "the old key is in force: \(error)")
                    #expect("\(error)".contains(folder.path), "the message names the file: \(error)")
                    failures += 1
                }
                isNew = opened.1
                _ = try DatabaseFile(path: path).cleanUp()
                try? FileManager.default.removeItem(atPath: folder.file("kept.db"))
                #expect(folder.names == ["test.db"], "nothing is left")
                if !met { break }
                #expect(number < 59, "more calls than this test knows")
            }
            #expect(failures > 0, "no call of this kind failed")
        }

        @Test func aWriteThatDoesAPartOnlyIsCalledAgain() throws {
            let queue = try DatabaseQueue(path: path, key: old)
            try queue.inDatabase { try $0.executeStatements(SampleFile.script) }
            try queue.close()
            let order = Faults.Order(prefix: path, call: .write, after: 0, code: nil, persists: true)
            let (outcome, met) = Faults.with(order) {
                try DatabaseFile(path: path).changeKey(from: old, to: new)
            }
            _ = try outcome.get()
            #expect(met)
            #expect(try opens(new) && !opens(old))
        }
    }
#endif
