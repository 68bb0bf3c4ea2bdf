import CipherDB
import Foundation
import TestSupport
import Testing

/// Files that other programs wrote with each parameter of SQLCipher, through the command; see Tests/FormatMatrix.
@Suite(
    .slow,
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .enabled(if: Engine.current.formats.first?.version == 4, "the engine has formats 1 to 3 only")
)
struct FormatMatrixTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// What the driver says, which is a failure unless it ends with status 0.
    private func run(_ arguments: [String]) throws -> Program.Outcome {
        try Program.run(
            "/usr/bin/env",
            ["python3", "-B", Program.packageDirectory + "/Tests/FormatMatrix/matrix.py"] + arguments
        )
    }

    /// Found, verified, changed, migrated, recovered, copied, decrypted and encrypted again; other programs read the results.
    @Test func everyFormatPassesThroughCommand() throws {
        let files = directory.file("files")
        let written = try run(["write", files, "--share", FormatMatrixTests.share])
        try #require(written.status == 0, "\(written.output)\(written.errors)")
        let passed = try run(["through", "\(files)/manifest.json", "--rekey", Program.built("rekey")])
        #expect(passed.status == 0, "\(passed.output)\(passed.errors)")
    }

    /// A wrong key, a parameter that was not told, a missing salt, another cipher, damage.
    @Test func errorNamesWhatWasWrong() throws {
        // Each case of refusals.py comes up.
        let trials = RandomTrials("wrong keys and parameters", "CIPHERDB_WRONG_PAIRS", rounds: 20)
        let tried = try run([
            "refuse", directory.file("files"), "--rekey", Program.built("rekey"),
            "--pairs", "\(trials.rounds)", "--seed", "\(trials.seed)",
        ])
        #expect(tried.status == 0, "CIPHERDB_SEED=\(trials.seed): \(tried.output)\(tried.errors)")
    }

    /// One in 31 files, other ones on each engine; Tests/FormatMatrix/formats.py takes all.
    private static let share = "\(Extent.share(Array(0..<31))[0])/31"
}
