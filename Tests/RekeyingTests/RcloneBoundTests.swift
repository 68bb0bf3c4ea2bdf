import CipherSystem
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@testable import CipherBackup

/// What a server may send.
@Suite(
    .enabled(
        if: (try? Program.run("/usr/bin/env", ["rclone", "version"]).status) == 0,
        "rclone is missing: run make setup"
    )
)
struct RcloneBoundTests {
    private let directory: TemporaryDirectory
    private let storage: RcloneStorage

    /// A directory that rclone reaches as a remote.
    init() throws {
        directory = try TemporaryDirectory()
        storage = try #require(RcloneStorage(location: "rclone::local:" + directory.path))
    }

    @Test func longObjectIsCut() throws {
        _ = try directory.write([UInt8](repeating: 7, count: 100_000), to: "object")
        #expect(try storage.open("object", from: 0, most: 1000).size() == 1000)
        #expect(try storage.open("object", from: 99_000, most: 2000).size() == 100_000)
        // It is not what was written.
        #expect(try storage.bytes("object", most: 500).count == 501)
    }

    @Test func copiesOfKilledRunsAreRemoved() throws {
        let left = ScratchFile.path + ".new-0123456789abcdef"
        try Data([1]).write(to: URL(fileURLWithPath: left))
        let running = try #require(try TemporaryFile(.backup, beside: ScratchFile.path))
        defer { running.discard() }
        try storage.locked(exclusively: true) {}
        #expect(!FileManager.default.fileExists(atPath: left))
        #expect(FileManager.default.fileExists(atPath: running.path))
    }

    @Test func sizesAreListed() throws {
        _ = try Program.run("/bin/mkdir", [directory.file("segments")])
        _ = try directory.write([1, 2, 3], to: "segments/a b")
        _ = try directory.write([], to: "segments/c")
        #expect(try storage.sizes(in: "segments") == ["a b": 3, "c": 0])
        #expect(try storage.sizes(in: "none") == [:])
        #expect(try DirectoryStorage(path: directory.path).sizes(in: "segments") == ["a b": 3, "c": 0])
    }
}
