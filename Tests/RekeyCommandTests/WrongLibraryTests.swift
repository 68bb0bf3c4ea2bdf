import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

#if os(Linux)
    /// The libipsec-mb of this machine.
    private enum MultiBufferLibrary {
        /// Nil without AVX2, where it is not used.
        static let path: String? = {
            guard let processor = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8),
                processor.contains(" avx2 "), dlopen("libIPSec_MB.so.1", RTLD_NOW) != nil,
                let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            else { return nil }
            return maps.split(separator: "\n").first { $0.contains("/libIPSec_MB.so.1") }?.split(separator: " ").last
                .map(String.init)
        }()
    }

    /// The command with a libipsec-mb that computes wrong MACs.
    @Suite(
        .enabled(if: Program.hasClang, "clang is missing"),
        .enabled(if: MultiBufferLibrary.path != nil, "no AVX2, or libipsec-mb is missing: run make setup")
    )
    struct WrongLibraryTests {
        let directory: TemporaryDirectory
        let path: String
        let keyFiles: [String]
        let keys: [DatabaseKey]

        init() throws {
            directory = try TemporaryDirectory()
            for name in ["data", "library"] {
                try FileManager.default.createDirectory(
                    atPath: directory.file(name),
                    withIntermediateDirectories: false
                )
            }
            path = directory.file("data/test.db")
            let secrets = [1, 2].map { [UInt8](repeating: $0, count: 32) }
            keyFiles = try secrets.map { [directory] in try directory.write($0, to: "key\($0[0])") }
            keys = try secrets.map { try .raw(SecretBytes(copying: $0)) }
            let source = Program.packageDirectory + "/Tests/RekeyCommandTests/Faults/wrongmacs.c"
            let wrong = directory.file("library/libIPSec_MB.so.1")
            let built = try Program.run(
                "/usr/bin/env",
                ["clang", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", wrong, source, "-ldl"]
            )
            try #require(built.status == 0, "\(built.errors)")
            let queue = try DatabaseQueue(path: path, key: keys[0])
            try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
            try queue.close()
        }

        /// Runs `change` with the wrong library, which must have been asked where the format has MACs that it computes.
        private func change() throws -> Program.Outcome {
            let inherited = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"].map { ":" + $0 } ?? ""
            let met = directory.file("met")
            let outcome = try Program.run(
                Program.built("rekey"),
                ["change", path, "--key-file", keyFiles[0], "--new-key-file", keyFiles[1]],
                environment: [
                    "LD_LIBRARY_PATH": directory.file("library") + inherited,
                    "REAL_LIBRARY": try #require(MultiBufferLibrary.path), "WRONG_MET": met,
                ]
            )
            // OpenSSL computes the MACs of older formats.
            let isAsked = Engine.current.formats.first?.version == 4
            #expect(FileManager.default.fileExists(atPath: met) == isAsked)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("data")) == ["test.db"])
            return outcome
        }

        @Test func wrongMACsReachNoFile() throws {
            let outcome = try change()
            #expect(outcome.status == 0, "\(outcome.errors)")
            // By the right library, and by the engine.
            #expect(try DatabaseFile(path: path).verify(key: keys[1]).isSound)
            let queue = try DatabaseQueue(path: path, key: keys[1])
            #expect(try queue.inDatabase { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
            try queue.close()
        }

        @Test func damageIsFoundDespiteWrongMACs() throws {
            let url = URL(fileURLWithPath: path)
            var bytes = try Data(contentsOf: url)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: url)
            let outcome = try change()
            #expect(outcome.status == 65, "\(outcome.errors)")
            #expect(try Data(contentsOf: url) == bytes)
        }
    }
#endif
