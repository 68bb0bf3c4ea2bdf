import CipherDB
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

#if os(Linux)
    /// The command with one call of the system that fails, the engine's own calls included: the first, the second, and so on
    /// until it needs no more of them; some are left out by default.
    @Suite(.slow, .enabled(if: Program.hasClang, "clang is missing"))
    struct SystemFaultTests {
        let directory: TemporaryDirectory
        let path: String
        let other: String
        let library: String
        let keyFiles: [String]
        let keys: [DatabaseKey]

        init() throws {
            let directory = try TemporaryDirectory()
            self.directory = directory
            try FileManager.default.createDirectory(atPath: directory.file("data"), withIntermediateDirectories: false)
            path = directory.file("data/test.db")
            other = directory.file("data/other.db")
            library = directory.file("faults.so")
            keyFiles = try [1, 2].map { try directory.write([UInt8](repeating: $0, count: 32), to: "key\($0)") }
            keys = try [1, 2].map { try .raw(SecretBytes(copying: [UInt8](repeating: $0, count: 32))) }
            let source = Program.packageDirectory + "/Tests/RekeyCommandTests/Faults/faults.c"
            let outcome = try Program.run(
                "/usr/bin/env",
                ["clang", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"]
            )
            try #require(outcome.status == 0, "\(outcome.errors)")
        }

        enum Operation: String, CaseIterable, Sendable {
            case change, changeInPlace, encrypt, decrypt, migrate, copy, recover

            /// Or replaces the file itself.
            var writesOther: Bool { self == .copy || self == .recover }
        }

        /// How the engine opens a file.
        private struct State {
            let key: Int?
            var pageSize: Int?
        }

        private var ownPageSize: Int { Engine.current.formats.first?.pageSize ?? 0 }

        /// What the file is before and after.
        private func states(_ operation: Operation) -> (State, State) {
            switch operation {
            case .change, .changeInPlace: (State(key: 0), State(key: 1))
            case .encrypt: (State(key: nil), State(key: 0))
            case .decrypt: (State(key: 0), State(key: nil))
            case .migrate: (State(key: 0, pageSize: ownPageSize), State(key: 0, pageSize: 8192))
            case .copy, .recover: (State(key: 0), State(key: 1))
            }
        }

        private func arguments(_ operation: Operation) -> [String] {
            let (old, new) = (["--key-file", keyFiles[0]], ["--new-key-file", keyFiles[1]])
            return switch operation {
            case .change: ["change", path] + old + new
            case .changeInPlace: ["change", path, "--in-place"] + old + new
            case .encrypt: ["encrypt", path] + old
            case .decrypt: ["decrypt", path, "--yes-write-plaintext"] + old
            case .migrate: ["migrate", path, "--page-size", "8192"] + old
            case .copy, .recover: [operation.rawValue, path, other] + old + new
            }
        }

        private func make(_ operation: Operation) throws {
            let state = states(operation).0
            let queue = try DatabaseQueue(
                path: path,
                key: state.key.map { keys[$0] },
                configuration: Configuration { $0.allowsPlaintext = state.key == nil }
            )
            try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
            try queue.close()
        }

        private func opens(_ path: String, _ state: State) throws -> Bool {
            let format = try state.pageSize.map { size in
                try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = size }
            }
            let database = Database(
                path: path,
                configuration: Configuration {
                    $0.allowsPlaintext = state.key == nil
                    $0.format = format
                }
            )
            do {
                try database.open(flags: .readWrite)
                if let key = state.key { try database.setKey(keys[key]) }
                _ = try database.int(forQuery: "SELECT 1 FROM people")
            } catch is KeyError {
                return false
            }
            defer { database.close() }
            if let pageSize = state.pageSize, database.cipherFormat?.pageSize != pageSize { return false }
            #expect(try database.string(forQuery: SampleFile.question) == SampleFile.answer)
            #expect(try database.string(forQuery: "PRAGMA integrity_check") == "ok")
            return true
        }

        static let calls = ["open", "read", "write", "sync", "truncate", "rename", "link", "unlink"]

        /// Each of them with one of the codes by default, which take turns.
        @Test(arguments: Extent.share(Extent.pairs(Operation.allCases, calls)))
        func callThatFailsAnywhereLosesNothing(operation: Operation, call: String) throws {
            try make(operation)
            let sound = try Data(contentsOf: URL(fileURLWithPath: path))
            // ENOSPC, EIO, EINTR, and a part only: a name is given or not, but reading and writing are done by halves.
            let codes: [Int32] = ["read", "write"].contains(call) ? [28, 5, 4, 0] : [28, 5, 4]
            let turn = (Self.calls.firstIndex(of: call) ?? 0) + (Operation.allCases.firstIndex(of: operation) ?? 0)
            for code in Extent.isComplete ? codes : [codes[turn % codes.count]] {
                var number = 0
                while try fail(call, number, operation, code, of: sound) {
                    number += Extent.isComplete ? 1 : max(1, 4 * number)
                    try #require(number < 3000, "more calls than this test knows")
                }
            }
        }

        /// Returns whether the command came so far.
        private func fail(
            _ call: String,
            _ number: Int,
            _ operation: Operation,
            _ code: Int32,
            of sound: Data
        ) throws -> Bool {
            let about: Comment = "\(operation): \(call) \(number) with \(code)"
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.file("data")) {
                try FileManager.default.removeItem(atPath: directory.file("data/\(name)"))
            }
            try sound.write(to: URL(fileURLWithPath: path))
            let met = directory.file("met")
            let outcome = try Program.run(
                Program.built("rekey"),
                arguments(operation),
                environment: [
                    "LD_PRELOAD": library, "FAULT_CALL": call, "FAULT_PREFIX": directory.file("data"),
                    "FAULT_AFTER": "\(number)", "FAULT_ERRNO": "\(code)", "FAULT_MET": met,
                ]
            )
            guard FileManager.default.fileExists(atPath: met) else {
                #expect(outcome.status == 0, about)
                return false
            }
            try FileManager.default.removeItem(atPath: met)
            let (before, after) = states(operation)
            if operation.writesOther {
                #expect(try opens(path, before), about)
                // A recovery whose last look at the new file fails says so, and keeps it. Newer engines take EIO for damage, too, which
                // keeps one from being begun.
                let isMade = FileManager.default.fileExists(atPath: other)
                if operation != .recover || outcome.status != 65 { #expect(isMade == (outcome.status == 0), about) }
                if isMade { #expect(try opens(other, after), about) }
            } else {
                let (isOld, isNew) = try (opens(path, before), opens(path, after))
                #expect(isOld != isNew, about)
                // In place the key can be in force, and the proof of it have failed.
                if operation != .changeInPlace { #expect(isNew == [0, 70].contains(outcome.status), about) }
            }
            if ![0, 65].contains(outcome.status) {
                #expect(outcome.errors.contains(directory.path), "\(about): \(outcome.errors)")
            }
            for written in operation.writesOther ? [path, other] : [path] {
                do {
                    _ = try DatabaseFile(path: written).cleanUp()
                } catch FileError.missing where written == other {
                    // Nothing stands there, and nothing was left.
                }
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.file("data"))
            #expect(Set(left).isSubset(of: ["test.db", "other.db"]), "\(about): \(left)")
            return true
        }
    }
#endif
