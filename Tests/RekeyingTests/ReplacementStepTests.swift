import CipherDB
import CipherPages
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import Rekeying

/// The steps by which a new file takes the place of a database.
struct ReplacementStepTests {
    struct Failure: Error {}

    let directory: TemporaryDirectory
    let file: DatabaseFile
    let old: DatabaseKey
    let new: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        old = try .sample("old")
        new = try .sample("new")
        file = DatabaseFile(path: directory.file("test.db"))
        let queue = try DatabaseQueue(path: file.path, key: old)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func change(failingBefore step: ReplacementStep) throws {
        let present = try file.identify(old)
        let next = try VerifiedKey(newFileUnder: new, format: present.format)
        var replacement = Replacement(
            file: file,
            present: present,
            format: next.format,
            keptAs: nil,
            progress: { _ in }
        )
        replacement.willPerform = { if $0 == step { throw Failure() } }
        _ = try replacement.run { old, image in
            let to = PageCoding.encrypted(next.key, next.format)
            try PageRewrite(from: .encrypted(present.key, present.format), to: to).run(old, into: image) { _, _ in }
            return to
        }
    }

    @Test(arguments: ReplacementStep.ofDatabase) func failedStepLosesNothing(step: ReplacementStep) throws {
        let isReplaced = [.syncDirectory, .eraseOld].contains(step)
        let before = try FileState(file.path)
        #expect(throws: Failure.self) { try change(failingBefore: step) }
        #expect(try (FileState(file.path) == before) == !isReplaced)
        #expect(try file.verify(key: isReplaced ? new : old).isSound)
        if isReplaced { _ = try file.cleanUp() }
        #expect(directory.names == ["test.db"])
    }

    @Test func documentHasSteps() throws {
        let document = try String(
            contentsOfFile: Program.packageDirectory + "/Documentation/Rekeying.md",
            encoding: .utf8
        )
        .replacing("\n", with: " ")
        for (name, steps) in [("database", ReplacementStep.ofDatabase), ("keyring", ReplacementStep.ofKeyring)] {
            #expect(document.contains("\(name): \(steps.map(\.rawValue).joined(separator: ", "))."))
        }
    }
}
