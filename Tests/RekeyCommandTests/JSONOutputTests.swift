import CipherDB
import Foundation
import TestSupport
import Testing

/// What `--json` prints, against the schema that is published for it.
@Suite(.atTheEnds) struct JSONOutputTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try SampleFile.make(at: directory.file("test.db"), under: .sample("old"))
        for name in ["old", "new"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
        _ = try directory.write(DatabaseKey.sampleBytes("command"), to: "command")
        _ = try directory.write("SQLite format 3\0".utf8, to: "cut.db")
        _ = try directory.write([], to: "empty.db")
        _ = try directory.write([0x28, 0xB5, 0x2F, 0xFD] + [UInt8](repeating: 0, count: 5000), to: "file.zst")
        _ = try directory.write([1], to: "test.db.rekey-0123456789abcdef")
        try SampleFile.makeDamaged(at: directory.file("damaged.db"), of: directory.file("test.db"))
    }

    /// In this order, each on what the ones before left.
    private static let commands = [
        "inspect test.db cut.db empty.db file.zst missing.db .", "inspect test.db --key-file old",
        "status test.db cut.db empty.db file.zst missing.db .", "status test.db damaged.db file.zst --key-file old",
        "status test.db missing.db --key-file new", "verify test.db --key-file old",
        "verify test.db file.zst cut.db --key-file new", "verify damaged.db --key-file old", "verify . --key-file old",
        "recover damaged.db saved.db --key-file old", "recover test.db whole.db --key-file old",
        "copy test.db copy.db --key-file old", "copy test.db copy.db --key-file old",
        "backup test.db repository", "backup test.db repository --key-file old --keep 9", "backups repository",
        "backups missing",
        "backups check repository", "backups check repository --key-file old", "restore repository restored.db",
        "restore repository proved.db --key-file old",
        "restore repository more.db --key-file new", "backups prune repository --keep 1",
        "change test.db --key-file old --new-key-file new --dry-run", "cleanup test.db", "cleanup test.db missing.db",
        "change test.db --key-file old --new-key-file new",
        "change test.db --in-place --key-file new --new-key-file old",
        "change test.db --key-file old --new-key-file old", "migrate test.db --key-file old --page-size 8192",
        "migrate test.db --key-file old --page-size 8192", "decrypt test.db --key-file old --dry-run",
        "decrypt test.db --key-file old --yes-write-plaintext", "encrypt test.db --key-file old --dry-run",
        "encrypt test.db --key-file old", "encrypt test.db --key-file old",
        "keyring init test.db --key-file old --new-key-file new --dry-run",
        "keyring init none.db --new-key-file new --dry-run",
        "keyring init test.db --key-file old --new-key-file new --label first", "keyring list test.db",
        "keyring status test.db --key-file new", "keyring unlock test.db --key-file new",
        "keyring unlock test.db --key-file old",
        "keyring add test.db --key-file new --new-key-file old", "keyring change test.db --key-file old --label second",
        "keyring add test.db --key-file new --command '/bin/cat command'", "keyring list test.db",
        "keyring remove test.db 2 --key-file new", "keyring remove test.db 7 --key-file new",
        "keyring backup test.db backup --key-file new",
        "copy test.db before.db --keyring test.db.keyring --key-file new",
        "inspect test.db --keyring test.db.keyring --key-file new", "keyring rotate test.db --key-file new --dry-run",
        "keyring rotate test.db --key-file new",
        "keyring rotate test.db --in-place --key-file new", "verify before.db --keyring test.db.keyring --key-file new",
        "status before.db test.db copy.db --keyring test.db.keyring --key-file new", "status test.db",
        "keyring status before.db --keyring test.db.keyring --key-file new", "keyring resume test.db --key-file new",
        "keyring cancel test.db --key-file new", "keyring adopt test.db --key-file new",
        "keyring forget test.db --key-file new --yes-forget-backups", "keyring restore test.db backup --key-file new",
        "keyring list copy.db", "keyring erase test.db --yes-destroy-the-data", "calibrate --milliseconds 1",
    ]

    @Test func outputMatchesSchema() throws {
        let schema = try JSONSchema(path: Program.packageDirectory + "/Documentation/rekey.schema.json")
        #expect(schema.alternatives.count == 18)
        var met: Set<String> = []
        for command in Self.commands {
            let outcome = try Program.rekey("\(command) --json", in: directory)
            #expect(
                outcome.status != 64 || command.contains("old --new-key-file old") || command.hasPrefix("encrypt")
                    || command.hasPrefix("keyring"),
                "\(command): \(outcome.errors)"
            )
            #expect(!outcome.output.isEmpty, "\(command): \(outcome.errors)")
            for line in outcome.output.split(separator: "\n") {
                let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
                #expect(schema.errors(value) == [], "\(command): \(line)")
                met.formUnion(schema.alternatives.filter { schema.errors(value, as: $0).isEmpty })
                #expect(((value as? [String: Any])?["jsonVersion"] as? Int) == 1)
            }
        }
        #expect(Set(schema.alternatives).subtracting(met) == [], "each kind of object is printed")
    }

    /// A schema that everything passes shows nothing.
    @Test func schemaRefusesOtherObjects() throws {
        let schema = try JSONSchema(path: Program.packageDirectory + "/Documentation/rekey.schema.json")
        for text in [
            "{}", "[]", #"{"file":"a","jsonVersion":1}"#, #"{"file":"a","jsonVersion":2,"removed":[]}"#,
            #"{"file":"a","jsonVersion":true,"removed":[]}"#, #"{"file":"a","jsonVersion":1,"removed":[1]}"#,
            #"{"file":"a","jsonVersion":1,"removed":[],"more":1}"#,
            #"{"file":"a","jsonVersion":1,"slot":0,"label":""}"#,
            #"{"file":"a","jsonVersion":1,"kind":"other","size":1}"#,
            #"{"file":"a","jsonVersion":1,"kind":"empty","size":"1"}"#,
        ] {
            let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
            #expect(!schema.errors(value).isEmpty, "\(text)")
        }
        let right = try JSONSerialization.jsonObject(with: Data(#"{"file":"a","jsonVersion":1,"removed":["b"]}"#.utf8))
        #expect(schema.errors(right) == [])
    }
}
