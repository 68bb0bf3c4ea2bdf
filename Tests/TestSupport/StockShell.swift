import CipherDB
import Foundation

/// The `sqlcipher` shell of an engine of the matrix: the oracle for what a SQLCipher file is.
package struct StockShell: Sendable, CustomStringConvertible {
    /// Such as `4.6.1`.
    package let version: String
    package let path: String

    package var description: String { "shell \(version)" }

    /// The newest format this shell has, which is its own.
    package var format: Int { version.hasPrefix("3.") ? 3 : 4 }

    /// The shells that `make engines` fetched, oldest first.
    package static let fetched: [StockShell] = {
        let directory = Program.packageDirectory + "/.engines"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.first?.isNumber == true }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            .map { StockShell(version: $0, path: "\(directory)/\($0)/bin/sqlcipher") }
    }()

    /// Those that this run tries, oldest first: by default the oldest, the newest, that of its own engine and its share of the
    /// others.
    package static let all: [StockShell] = {
        let fixed = Set([fetched.first?.version, fetched.last?.version, own])
        let others = Extent.share(fetched.filter { !fixed.contains($0.version) }).map(\.version)
        return fetched.filter { fixed.contains($0.version) || others.contains($0.version) }
    }()

    /// Whether it is the shell of the engine that the tests run on, the only one that is tried with passphrases by default.
    package var isOfThisEngine: Bool {
        Extent.isComplete || version == StockShell.own
    }

    /// The version of the engine that the tests run on.
    private static let own = Engine.current.sqlcipherVersion?.split(separator: " ").first.map(String.init)

    /// The newest shell that writes the format of the engine that the tests run on.
    package static var ofThisFormat: StockShell? { all.last { $0.format == Engine.current.formats.first?.version } }

    /// Python with the sqlcipher3 wheel, SQLCipher 4.x, where it could be installed.
    package static let python = Program.packageDirectory + "/.engines/python/bin/python"

    /// Whether the oracles are there. Where they are not, the test run says so: they come by `make engines`.
    package static var isAvailable: Bool {
        all.count >= 2 && FileManager.default.isExecutableFile(atPath: python)
    }

    /// A failure of the shell, in its words.
    package struct Failure: Error { package let errors: String }

    /// Runs SQL on `file` and returns the lines of its results. `key` is what stands after `PRAGMA`, such as
    /// `key = 'secret'`.
    @discardableResult
    package func run(_ file: String, key: String?, settings: [String] = [], _ sql: String) throws -> [String] {
        var script = ".bail on\n"
        if let key { script += "PRAGMA \(key);\n" }
        for setting in settings { script += "PRAGMA \(setting);\n" }
        // Keying prints a line in some versions: what counts stands after this one.
        script += "SELECT '--- results';\n" + sql + "\n"
        let outcome = try Program.run(path, ["-batch", file], input: script)
        guard outcome.status == 0, !outcome.errors.contains("Error") else { throw Failure(errors: outcome.errors) }
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(of: "--- results") else { throw Failure(errors: outcome.output) }
        return lines[(start + 1)...].filter { !$0.isEmpty }
    }

    /// The pragmas that make this shell read and write `format`.
    package func settings(forFormat format: Int) -> [String] {
        if format == self.format { return [] }
        if self.format == 4 { return ["cipher_compatibility = \(format)"] }
        return format == 2 ? ["kdf_iter = 4000"] : ["kdf_iter = 4000", "cipher_use_hmac = OFF"]
    }

    /// Opens `file` in Python with a key given as a pragma, and returns the rows of `sql`, columns joined by `|`.
    package static func runPython(_ file: String, key: String, _ sql: String) throws -> [String] {
        let script = """
            import sys, sqlcipher3
            connection = sqlcipher3.connect(sys.argv[1])
            connection.execute("PRAGMA " + sys.argv[2])
            for row in connection.execute(sys.argv[3]):
                print("|".join(str(value) for value in row))
            """
        let outcome = try Program.run(python, ["-c", script, file, key, sql])
        guard outcome.status == 0 else { throw Failure(errors: outcome.errors) }
        return outcome.output.split(separator: "\n").map(String.init)
    }
}
