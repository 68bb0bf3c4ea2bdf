import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

@testable import rekey

/// `rekey status`: what it says about each kind of file, with a key and without.
@Suite(.atTheEnds) struct StatusTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try SampleFile.make(at: directory.file("good.db"), under: .sample("k"))
        try SampleFile.make(at: directory.file("other.db"), under: .sample("o"))
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements("CREATE TABLE t (a)")
        plain.close()
        _ = try directory.write(DatabaseKey.sampleBytes("k"), to: "k")
        _ = try directory.write([], to: "empty.db")
        _ = try directory.write([0x1F, 0x8B, 8, 0] + [UInt8](repeating: 7, count: 5000), to: "a.gz")
        try FileManager.default.createDirectory(atPath: directory.file("directory"), withIntermediateDirectories: false)
        try SampleFile.makeDamaged(at: directory.file("damaged.db"), of: directory.file("good.db"))
    }

    /// Runs `rekey status` in the directory.
    private func status(_ arguments: String, input: String = "") throws -> Program.Outcome {
        try Program.rekey("status " + arguments, in: directory, input: input)
    }

    private func objects(_ arguments: String, input: String = "") throws -> [[String: Any]] {
        try status("\(arguments) --json", input: input).output.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private static let kinds: [(file: String, unkeyed: String, keyed: String, status: Int32)] = [
        ("good.db", "encrypted", "encrypted", 0), ("damaged.db", "encrypted", "damaged", 65),
        ("other.db", "encrypted", "wrongKey", 77), ("plain.db", "plaintext", "plaintext", 65),
        ("empty.db", "empty", "empty", 65), ("a.gz", "notADatabase", "notADatabase", 65),
        ("directory", "notAFile", "notAFile", 65), ("missing.db", "missing", "missing", 66),
    ]

    @Test(arguments: kinds)
    func eachKindHasItsName(_ file: String, _ unkeyed: String, _ keyed: String, _ code: Int32) throws {
        for (options, expected) in [("", unkeyed), (" --key-file k", keyed), (" --key-file k --pages-only", keyed)] {
            let object = try #require(objects(file + options).first)
            #expect(object["state"] as? String == expected, "\(options)")
            let expectedCode = expected == "encrypted" ? 0 : code
            #expect(object["exitStatus"] as? Int == Int(expectedCode))
            let outcome = try status(file + options)
            #expect(outcome.status == expectedCode, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.hasPrefix("\(file): ") && outcome.output.split(separator: "\n").count == 1)
            #expect(outcome.output.contains("FAILED") == (expectedCode != 0))
            #expect(object["encrypted"] as? Bool == ["good.db", "damaged.db", "other.db"].contains(file))
        }
    }

    @Test func plaintextIsFailure() throws {
        for options in ["", " --key-file k"] {
            let object = try #require(objects("plain.db" + options).first)
            #expect(object["encrypted"] as? Bool == false && object["ok"] as? Bool == false)
            #expect(try status("plain.db" + options).status == 65)
        }
    }

    @Test func onlyProvedFileIsVerified() throws {
        let unkeyed = try objects("good.db damaged.db other.db plain.db missing.db")
        #expect(unkeyed.count == 5 && unkeyed.allSatisfy { $0["verified"] as? Bool == false })
        let keyed = try objects("good.db damaged.db other.db plain.db missing.db --key-file k")
        #expect(keyed.map { $0["verified"] as? Bool } == [true, false, false, false, false])
        #expect(try status("good.db").output.contains("not verified: no key was given"))
        // A key that cannot be read proves nothing either, and hides nothing.
        let unread = try objects("good.db plain.db --key-file nowhere")
        #expect(unread.map { $0["state"] as? String } == ["notVerified", "plaintext"])
        #expect(unread.allSatisfy { $0["verified"] as? Bool == false })
        #expect(try status("good.db --pages-only").status == 64)
    }

    @Test(.enabled(if: StockShell.ofThisFormat != nil, "the stock shells are missing"))
    func fileWithoutMACsIsNotVerified() throws {
        let shell = try #require(StockShell.ofThisFormat)
        let file = directory.file("unauthenticated.db")
        try shell.run(file, key: "key = 'the passphrase'", settings: ["cipher_use_hmac = OFF"], "CREATE TABLE t (a);")
        _ = try directory.write("the passphrase\n".utf8, to: "p")
        let object = try #require(objects("unauthenticated.db --passphrase-file p").first)
        #expect(object["state"] as? String == "withoutMACs")
        #expect(object["verified"] as? Bool == false && object["encrypted"] as? Bool == true)
        #expect(object["error"] as? String == "withoutMACs" && object["exitStatus"] as? Int == 65)
        let format = Engine.current.formats.first?.version ?? 4
        let options = "--passphrase-file p --file-format \(format) --file-hmac-algorithm none"
        let named = try #require(objects("unauthenticated.db \(options)").first)
        #expect(named["state"] as? String == "withoutMACs" && named["ok"] as? Bool == true)
        #expect(named["verified"] as? Bool == false)
    }

    @Test(.enabled(if: Engine.current.formats.first == .v4, "this engine has no plaintext headers"))
    func plaintextHeaderHasItsName() throws {
        let shell = try #require(StockShell.ofThisFormat)
        let salt = "00112233445566778899aabbccddeeff"
        let settings = ["cipher_plaintext_header_size = 32", "cipher_salt = \"x'\(salt)'\""]
        try shell.run(
            directory.file("header.db"),
            key: SampleKey.named("k").pragma,
            settings: settings,
            SampleFile.script
        )
        for (options, isVerified) in [("", false), (" --key-file k --salt \(salt)", true)] {
            let object = try #require(objects("header.db" + options).first)
            #expect(object["state"] as? String == "plaintextHeader")
            #expect(object["verified"] as? Bool == isVerified && object["ok"] as? Bool == true)
        }
    }

    @Test func gravestStatusIsExitStatus() throws {
        #expect(try status("missing.db plain.db good.db").status == 65)
        #expect(try status("missing.db other.db good.db --key-file k").status == 77)
        for status in ExitStatus.allCases {
            #expect(ExitStatus.worst([.done, status, .done]) == status)
            #expect(ExitStatus.worst([status, .damaged]) == .damaged)
        }
        #expect(ExitStatus.worst([]) == .done)
    }

    @Test func badFileHidesNoOther() throws {
        let names = "missing.db other.db damaged.db good.db"
        let objects = try objects(
            names + " --key-file -",
            input: String(decoding: DatabaseKey.sampleBytes("k"), as: UTF8.self)
        )
        #expect(objects.map { $0["state"] as? String } == ["missing", "wrongKey", "damaged", "encrypted"])
        let outcome = try status(names + " --key-file k")
        #expect(outcome.output.contains("4 files, 3 failed"))
    }

    @Test func unreadableFileHasItsName() throws {
        // Root may read every file: the command is started for somebody else then.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: directory.file("good.db"))
        let user = getuid() == 0 ? "setpriv --reuid 65534 --clear-groups" : ""
        let line = "cd \"$0\" && exec \(user) \"$1\" status good.db --json"
        let outcome = try Program.run("/bin/sh", ["-c", line, directory.path, Program.built("rekey")])
        #expect(outcome.status == 77 && outcome.output.contains("\"state\":\"unreadable\""), "\(outcome.errors)")
    }

    @Test func nameForgesNoLine() throws {
        try FileManager.default.moveItem(
            atPath: directory.file("plain.db"),
            toPath: directory.file("a\ngood.db: encrypted, verified")
        )
        let outcome = try Program.run(
            Program.built("rekey"),
            ["status", directory.file("a\ngood.db: encrypted, verified")]
        )
        #expect(outcome.status == 65 && outcome.output.split(separator: "\n").count == 1, "\(outcome.output)")
        #expect(outcome.output.contains("\\u{a}"))
    }

    /// Of the heading of a file, and of an error; also where the line ending is the one that Swift takes for one character.
    @Test(arguments: ["\n", "\r\n"]) func nameForgesNoLineOfOtherCommands(ending: String) throws {
        let name = directory.file("a\(ending)file: encrypted")
        try FileManager.default.moveItem(atPath: directory.file("plain.db"), toPath: name)
        let found = try Program.run(Program.built("rekey"), ["inspect", name, name])
        let missing = try Program.run(Program.built("rekey"), ["inspect", name + "x"])
        let status = try Program.run(Program.built("rekey"), ["status", name])
        #expect(found.output.contains("\\u{a}file") && status.status == 65, "\(found.output)\(found.errors)")
        for text in [found.output, missing.errors, status.output] {
            #expect(!text.utf8.split(separator: 10).contains { $0.starts(with: "file: encrypted".utf8) }, "\(text)")
        }
        #expect(missing.errors.utf8.split(separator: 10).count == 1)
    }
}
