import CipherDB
import Foundation
import TestSupport
import Testing

/// `rekey backup`, `restore` and `backups`.
@Suite struct BackupCommandTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try SampleFile.make(at: directory.file("a.db"), under: .sample("k"))
        for name in ["k", "other"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
    }

    private func rekey(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey(arguments, in: directory)
    }

    private func update(_ sql: SQL) throws {
        let queue = try DatabaseQueue(path: directory.file("a.db"), key: .sample("k"))
        try queue.inDatabase { try $0.executeUpdate(sql) }
        try queue.close()
    }

    @Test func backupIsRestoredWithProof() throws {
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        try update("DELETE FROM people WHERE id > 300")
        let second = try rekey("backup a.db repository --key-file k")
        #expect(second.output.contains("generation: 2 of ") && second.output.contains("by their MACs"))
        #expect(try rekey("backup a.db repository --key-file k").output.contains("nothing has changed since"))
        let list = try rekey("backups repository").output.split(separator: "\n")
        #expect(list.count == 2 && list[0].hasPrefix("1: ") && list[1].hasPrefix("2: "))
        let restored = try rekey("restore repository new.db --generation 1 --key-file k")
        for line in ["manifest:        its MAC is right", "integrity check: ok", "proved:          yes"] {
            #expect(restored.output.contains(line), "\(restored.output)\(restored.errors)")
        }
        #expect(try rekey("verify new.db --key-file k").status == 0)
        #expect(try rekey("backups check repository").output.hasSuffix("sound:       yes\n"))
        #expect(
            try rekey("backups prune repository --keep 1").output
                == "kept:    1 generations\nremoved: 1 generations, 0 segments\n"
        )
    }

    @Test(arguments: [
        ("restore repository a.db", 73, "exists already"), ("restore nothing new.db", 66, "not a repository"),
        ("restore repository new.db --generation 7", 66, "no such generation"),
        ("restore repository new.db --at 2001-01-01T00:00:00Z", 66, "no such generation"),
        ("restore repository new.db --at yesterday", 64, "is no time such as"),
        ("restore repository new.db --at 2026-01-01T00:00:00Z --generation 1", 64, "exclude each other"),
        ("restore repository new.db --at-least 2", 65, "the newest generation is 1"),
        ("restore repository new.db --key-file k", 77, "--allow-unauthenticated accepts it"),
        ("restore repository new.db --key-file other", 77, "wrong key"),
        ("backup missing.db repository", 66, "no such file"), ("backup k repository", 65, "not"),
        ("backup a.db repository --key-file other", 77, "wrong key"), ("backup a.db a.db", 66, "not a repository"),
        ("backups check repository --at-least 2", 65, "the newest generation is 1"),
        ("backups prune repository", 64, "Give what to keep"), ("backups prune repository --keep 0", 64, "from 1"),
        ("backups prune repository --keep-within 3w", 64, "no age such as"),
        ("backup a.db rclone:no-such-remote:x", 74, "rclone"),
    ])
    func errorNamesCause(arguments: String, status: Int32, text: String) throws {
        #expect(try rekey("backup a.db repository").status == 0)
        let outcome = try rekey(arguments)
        #expect(outcome.status == status, "\(outcome.errors)\(outcome.output)")
        #expect((outcome.errors + outcome.output).contains(text), "\(outcome.errors)")
        #expect(!directory.names.contains("new.db"))
        #expect(!directory.names.contains { $0.contains(".rekey-") })
    }

    @Test func generationUnderRetiredKeyIsRestored() throws {
        #expect(try rekey("keyring init a.db --key-file k --new-key-file other").status == 0)
        let keys = "--keyring a.db.keyring --key-file other"
        #expect(try rekey("backup a.db repository \(keys)").status == 0)
        #expect(try rekey("keyring rotate a.db --key-file other").status == 0)
        #expect(try rekey("backup a.db repository \(keys)").output.contains("generation: 2 of "))
        for number in 1...2 {
            let outcome = try rekey("restore repository \(number).db --generation \(number) \(keys)")
            #expect(outcome.output.contains("proved:          yes"), "\(outcome.errors)")
        }
    }
}
