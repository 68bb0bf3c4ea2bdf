import CipherDB
import Foundation
import TestSupport
import Testing

/// Whom the files belong to that a command makes.
@Suite(.atTheEnds) struct OwnershipTests {
    let directory: TemporaryDirectory
    let path: String
    private static let isRoot = getuid() == 0

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        try SampleFile.make(at: path, under: .sample("old"))
        for name in ["old", "new"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
    }

    /// Runs a line of the shell in the directory as user 65534 of the groups 65534 and 12346.
    private func shell(_ line: String) throws -> Program.Outcome {
        let user = "setpriv --reuid 65534 --regid 65534 --groups 12346 --inh-caps=-all"
        let words = user.split(separator: " ").map(String.init) + ["sh", "-c", "cd '\(directory.path)' && \(line)"]
        return try Program.run("/usr/bin/env", words)
    }

    /// Owner, group and permissions, as `stat` prints them.
    private func owner(_ name: String) throws -> String {
        let numbers = "%u:%g %a"
        let outcome = try Program.run("/usr/bin/env", ["stat", "-c", numbers, directory.file(name)])
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func change(owner: UInt32?, group: UInt32, mode: mode_t) throws {
        #expect(chown(path, owner ?? uid_t.max, group) == 0 && chmod(path, mode) == 0)
    }

    @Test(
        .enabled(if: isRoot, "only root can give a file away"),
        arguments: [(0o640, "640"), (0o666, "660"), (0o600, "600"), (0o4751, "640")]
    )
    func newKeyringBelongsToDatabasesOwner(mode: Int, expected: String) throws {
        try change(owner: 12345, group: 12346, mode: mode_t(mode))
        let made = try Program.rekey("keyring init test.db --key-file old --new-key-file new", in: directory)
        #expect(made.status == 0 && !made.output.contains("chown"), "\(made.output)\(made.errors)")
        #expect(try owner("test.db.keyring") == "12345:12346 \(expected)")
        // A backup belongs to who makes it.
        let saved = try Program.rekey("keyring backup test.db saved --key-file new", in: directory)
        #expect(saved.status == 0)
        #expect(try owner("saved") == "0:0 600")
        let moved = try Program.rekey(
            "change test.db --keyring test.db.keyring --key-file new --new-keyring other --new-key-file old --label Ada",
            in: directory
        )
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(try owner("other") == "12345:12346 \(expected)")
        let list = try Program.rekey("keyring list test.db --keyring other", in: directory)
        #expect(list.output.contains("slot 1 “Ada”"))
    }

    @Test(.enabled(if: isRoot, "only root can give a file away"))
    func restoredKeyringBelongsToDatabasesOwner() throws {
        for command in [
            "keyring init test.db --key-file old --new-key-file new", "keyring backup test.db saved --key-file new",
        ] {
            #expect(try Program.rekey(command, in: directory).status == 0)
        }
        try FileManager.default.removeItem(atPath: directory.file("test.db.keyring"))
        try change(owner: 12345, group: 12346, mode: 0o640)
        let restored = try Program.rekey("keyring restore test.db saved --key-file new", in: directory)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try owner("test.db.keyring") == "12345:12346 640")
    }

    @Test func keyringWithoutDatabaseIsOwnerOnly() throws {
        let made = try Program.rekey("keyring init none.db --new-key-file new", in: directory, before: "umask 0")
        #expect(made.status == 0, "\(made.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: directory.file("none.db.keyring"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test(.enabled(if: isRoot && DryRunTests.isReachable, "only root can give a file away"))
    func keyringThatCannotBeGivenNamesChown() throws {
        let saved = try Program.rekey("keyring init test.db --key-file old --new-key-file new", in: directory)
        #expect(saved.status == 0)
        try change(owner: 12345, group: 12346, mode: 0o666)
        let prepare = "chmod 777 . && mv test.db.keyring saved && chown 65534 saved old new"
        _ = try Program.run("/bin/sh", ["-c", "cd '\(directory.path)' && \(prepare)"])
        let note = "could not get the owner 12345 of the database; run `chown 12345:12346 test.db.keyring` as root"
        let restored = try shell("\(Program.built("rekey")) keyring restore test.db saved --key-file new")
        #expect(restored.status == 0 && restored.output.contains(note), "\(restored.output)\(restored.errors)")
        #expect(try owner("test.db.keyring") == "65534:12346 660")
        // Without the group, no permissions for one.
        try change(owner: 65534, group: 12347, mode: 0o660)
        try FileManager.default.removeItem(atPath: directory.file("test.db.keyring"))
        let again = try shell("\(Program.built("rekey")) keyring restore test.db saved --key-file new")
        #expect(again.output.contains("could not get the group 12347"), "\(again.output)\(again.errors)")
        #expect(again.output.contains("chmod 660 test.db.keyring"))
        #expect(try owner("test.db.keyring") == "65534:65534 600")
    }

    /// The file's owner and group, and what is said.
    static let refused: [(UInt32, UInt32, String)] = [
        (65534, 12347, "cannot get the group 12347 of the old one; give the file a group of yours by `chgrp`"),
        (12345, 12346, "cannot get the owner 12345 of the old one; run this as that user"),
    ]

    @Test(
        .enabled(if: isRoot && DryRunTests.isReachable, "only root can give a file away"),
        arguments: refused
    )
    func dryRunFindsOwnerThatCannotBeGiven(user: UInt32, group: UInt32, message: String) throws {
        _ = try Program.run("/bin/sh", ["-c", "cd '\(directory.path)' && chmod 777 . && chown 65534 old new"])
        try change(owner: user, group: group, mode: 0o666)
        let state = try FileState(path)
        let command = "\(Program.built("rekey")) change test.db --key-file old --new-key-file new"
        let dry = try shell("\(command) --dry-run")
        let run = try shell(command)
        #expect(run.status == 77 && run.errors.contains("test.db: the new file \(message)"), "\(run.errors)")
        #expect(run.errors.contains("--in-place"))
        #expect(dry.status == 77 && dry.errors == run.errors, "\(dry.errors)")
        #expect(try FileState(path) == state && directory.names == ["new", "old", "test.db"])
        let inPlace = try shell("\(command) --in-place")
        #expect(inPlace.status == 0, "\(inPlace.errors)")
    }

    @Test(.enabled(if: isRoot && DryRunTests.isReachable, "only root can give a file away"))
    func groupOfOneOfTheUsersIsGiven() throws {
        _ = try Program.run("/bin/sh", ["-c", "cd '\(directory.path)' && chmod 777 . && chown 65534 old new"])
        try change(owner: 65534, group: 12346, mode: 0o640)
        let command = "\(Program.built("rekey")) change test.db --key-file old --new-key-file new"
        #expect(try shell("\(command) --dry-run").status == 0)
        #expect(try shell(command).status == 0)
        #expect(try owner("test.db") == "65534:12346 640")
    }

    /// Such a directory gives its group to the files in it, also to those of users who are no members.
    @Test(.enabled(if: isRoot && DryRunTests.isReachable, "only root can give a file away"))
    func groupOfDirectoryIsGiven() throws {
        let prepare = "chgrp 12347 . && chmod 2777 . && chown 65534 old new"
        _ = try Program.run("/bin/sh", ["-c", "cd '\(directory.path)' && \(prepare)"])
        try change(owner: 65534, group: 12347, mode: 0o640)
        let command = "\(Program.built("rekey")) change test.db --key-file old --new-key-file new"
        #expect(try shell("\(command) --dry-run").status == 0)
        #expect(try shell(command).status == 0)
        #expect(try owner("test.db") == "65534:12347 640")
    }

    @Test(.enabled(if: isRoot && DryRunTests.isReachable, "only root can give a file away"))
    func keyringNamesGroupThatCannotBeGiven() throws {
        #expect(try Program.rekey("keyring init test.db --key-file old --new-key-file new", in: directory).status == 0)
        let prepare = "chmod 777 . && chown 65534 old new test.db && chown 65534:12347 test.db.keyring"
        _ = try Program.run("/bin/sh", ["-c", "cd '\(directory.path)' && \(prepare)"])
        let command = "\(Program.built("rekey")) keyring add test.db --key-file new --new-key-file old"
        let added = try shell(command)
        #expect(added.status == 77 && added.errors.contains("test.db.keyring: the new file cannot get the group 12347"))
        #expect(added.errors.contains("chgrp"), "\(added.errors)")
    }

    /// Gives a file an attribute; false where the file system has none.
    private func set(_ attribute: String, _ hexadecimal: String, of name: String) throws -> Bool {
        let script = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]))"
        let arguments = ["-c", script, directory.file(name), attribute, hexadecimal]
        return try Program.run("/usr/bin/python3", arguments).status == 0
    }

    /// The attributes of a file and their values.
    private func attributes(_ name: String) throws -> String {
        let script = """
            import os, sys
            print({name: os.getxattr(sys.argv[1], name).hex() for name in sorted(os.listxattr(sys.argv[1]))})
            """
        return try Program.run("/usr/bin/python3", ["-c", script, directory.file(name)]).output
    }

    #if os(Linux)
        /// Read for the owner, the user 12345 and the mask, as setfacl writes it.
        private static let list =
            "02000000" + "01000600ffffffff" + "0200040039300000" + "04000000ffffffff" + "10000400ffffffff"
            + "20000000ffffffff"

        @Test(arguments: [
            "change test.db --key-file old --new-key-file new", "migrate test.db --key-file old --page-size 8192",
            "decrypt test.db --key-file old --yes-write-plaintext",
            "keyring init test.db --key-file old --new-key-file new",
            "change test.db --key-file old --new-key-file new --keep-old kept.db",
        ])
        func replacementKeepsExtendedAttributes(command: String) throws {
            try #require(try set("user.note", "6100ff", of: "test.db"), "this file system has no attributes")
            let hasList = try set("system.posix_acl_access", Self.list, of: "test.db")
            let before = try attributes("test.db")
            #expect(before.contains("user.note") && before.contains("posix_acl_access") == hasList)
            let outcome = try Program.rekey(command, in: directory)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try attributes("test.db") == before)
            if command.contains("--keep-old") { #expect(try attributes("kept.db") == before) }
        }

        @Test func rewrittenKeyringKeepsExtendedAttributes() throws {
            let made = try Program.rekey("keyring init test.db --key-file old --new-key-file new", in: directory)
            #expect(made.status == 0, "\(made.errors)")
            try #require(try set("user.note", "6100ff", of: "test.db.keyring"), "this file system has no attributes")
            let before = try attributes("test.db.keyring")
            let added = try Program.rekey("keyring add test.db --key-file new --new-key-file old", in: directory)
            #expect(added.status == 0, "\(added.errors)")
            #expect(try attributes("test.db.keyring") == before)
        }

        /// The directory gives new files a list, by which the user 12345 could read them.
        @Test func replacementGetsNoListOfDirectory() throws {
            try #require(try set("system.posix_acl_default", Self.list, of: "."), "this file system has no lists")
            let outcome = try Program.rekey("change test.db --key-file old --new-key-file new", in: directory)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try !attributes("test.db").contains("posix_acl_access"))
        }

        @Test(.enabled(if: isRoot && DryRunTests.isReachable, "only root can make such an attribute"))
        func attributeThatCannotBeGivenIsNamed() throws {
            let prepare = "cd '\(directory.path)' && chmod 777 . && chown 65534:65534 old new test.db"
            _ = try Program.run("/bin/sh", ["-c", prepare])
            try #require(try set("security.cipherdb", "61", of: "test.db"), "this file system has no attributes")
            let state = try FileState(path)
            let outcome = try shell("\(Program.built("rekey")) change test.db --key-file old --new-key-file new")
            #expect(outcome.status == 77, "\(outcome.errors)")
            #expect(outcome.errors.contains("test.db: extended attribute security.cipherdb: "), "\(outcome.errors)")
            #expect(try FileState(path) == state && directory.names == ["new", "old", "test.db"])
        }
    #endif
}
