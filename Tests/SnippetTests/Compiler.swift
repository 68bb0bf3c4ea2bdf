import Foundation
import TestSupport

/// The compiler that built the tests, and what it needs to find the modules of the products.
enum Compiler {
    private static let modules = Program.built("Modules")
    static let isAvailable =
        FileManager.default.fileExists(atPath: modules + "/CipherDB.swiftmodule")
        && (try? Program.run("/usr/bin/env", ["swiftc", "--version"]).status) == 0

    static func arguments() throws -> [String] {
        let flags = try Program.run("/usr/bin/env", ["pkg-config", "--cflags", "sqlcipher", "libcrypto"]).output
        let maps =
            ["CSQLCipher/include", "CCipherOpenSSL"].map {
                "\(Program.packageDirectory)/Sources/\($0)/module.modulemap"
            }
            + ["CCipherSystem", "CCipherLanes"].map { Program.built("\($0).build/module.modulemap") }
        return ["-I", modules] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
            + flags.split(whereSeparator: \.isWhitespace).flatMap { ["-Xcc", String($0)] }
    }
}
