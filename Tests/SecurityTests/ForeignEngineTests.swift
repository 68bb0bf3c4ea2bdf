import CipherDB
import Foundation
import TestSupport
import Testing

/// A plain SQLite that gets into the process before SQLCipher: a key would be taken, and the file be plaintext.
@Suite(.slow) struct ForeignEngineTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The machine's plain SQLite.
    static let plainSQLite: String? = {
        let cache = try? Program.run("/sbin/ldconfig", ["-p"])
        let line = cache?.output.split(separator: "\n").first { $0.contains("libsqlite3.so.0 ") }
        return line?.split(separator: " ").last.map(String.init)
    }()

    @Test(.enabled(if: plainSQLite != nil, "this machine has no plain libsqlite3"))
    func preloadedSQLiteCreatesNoFile() throws {
        let path = directory.file("test.db")
        let outcome = try Program.run(
            Program.built("PackageSearch"),
            [Program.packageDirectory + "/Examples/PackageSearch/sample.status", path],
            environment: ["LD_PRELOAD": try #require(Self.plainSQLite)]
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("cannot encrypt"), "\(outcome.errors)")
        #expect(directory.names.isEmpty)
    }

    @Test(
        .enabled(if: plainSQLite != nil, "this machine has no plain libsqlite3"),
        arguments: [JournalMode.delete, .wal]
    )
    func preloadedSQLiteLeavesEncryptedFile(mode: JournalMode) throws {
        let path = directory.file("test.db")
        let secret = try directory.write("secret".utf8, to: "passphrase")
        let configuration = Configuration { $0.journalMode = mode }
        let queue = try DatabaseQueue(path: path, key: .passphrase("secret"), configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        let before = try FileState(path)
        for command in ["verify", "change", "inspect"] {
            let new = command == "change" ? ["--new-passphrase-file", secret] : []
            let outcome = try Program.run(
                Program.built("rekey"),
                [command, path, "--passphrase-file", secret] + new,
                environment: ["LD_PRELOAD": try #require(Self.plainSQLite)]
            )
            #expect(outcome.status == 69, "\(command): \(outcome.errors)")
        }
        #expect(try FileState(path) == before)
    }

    /// A library between the program and SQLCipher that takes keys and does nothing with them, but for the first `HEARS` of them.
    /// Everything else is SQLCipher's.
    private static let deaf = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        typedef int (*opening)(const char *, void **, int, const char *);
        typedef int (*keying)(void *, const char *, const void *, int);
        int sqlite3_open_v2(const char *path, void **db, int flags, const char *vfs) {
            return ((opening)dlsym(RTLD_NEXT, "sqlite3_open_v2"))(path, db, flags, vfs);
        }
        static int calls;
        int sqlite3_key_v2(void *db, const char *name, const void *key, int count) {
            const char *heard = getenv("HEARS");
            if (calls++ >= (heard ? atoi(heard) : 0)) return 0;
            return ((keying)dlsym(RTLD_NEXT, "sqlite3_key_v2"))(db, name, key, count);
        }
        """

    /// At once, after the key that makes the engine have its provider, or after the two of its trial in memory: then the header of the
    /// new file shows it.
    @Test(.enabled(if: Program.hasClang, "clang is missing"), arguments: [0, 1, 3])
    func engineIgnoringKeyIsDetected(keysHeard: Int) throws {
        let source = try directory.write(Self.deaf.utf8, to: "deaf.c")
        let library = directory.file("deaf.so")
        let built = try Program.run("/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library, source, "-ldl"])
        #expect(built.status == 0, "\(built.errors)")
        let before = directory.names
        let outcome = try Program.run(
            Program.built("PackageSearch"),
            [Program.packageDirectory + "/Examples/PackageSearch/sample.status", directory.file("test.db")],
            environment: ["LD_PRELOAD": library, "HEARS": "\(keysHeard)"]
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("cannot encrypt"), "\(outcome.errors)")
        #expect(directory.names == before, "the file is gone, which was in plaintext")
    }

    @Test func demoRunsWithoutPreload() throws {
        // Or the refusal above would prove nothing.
        let outcome = try Program.run(
            Program.built("PackageSearch"),
            [Program.packageDirectory + "/Examples/PackageSearch/sample.status", directory.file("test.db")]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("0 damaged, 0 problems"))
    }
}
