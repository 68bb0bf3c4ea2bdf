import Foundation
import TestSupport
import Testing

/// What fuzzing begins with, and what it once found.
@Suite(.once) struct FuzzCorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func noSeedOfFuzzingCrashesItsTarget(target: FuzzTarget) throws {
        let directory = "\(Program.packageDirectory)/Tests/Fuzzing/Corpus/\(target.rawValue)"
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(!names.isEmpty)
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)")))
            // An error is an answer; so is one to what is left of it when the end is cut off.
            for count in Set([bytes.count, bytes.count / 2, min(bytes.count, 1), 0]) {
                _ = try? target.run(Array(bytes.prefix(count)))
            }
        }
    }
}
