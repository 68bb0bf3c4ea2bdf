import Foundation

/// A file system of a few mebibytes, which is soon full.
package final class SmallDisk: Sendable {
    package let path: String
    private let directory: TemporaryDirectory

    /// Only root can mount one.
    package static var isPossible: Bool {
        #if os(Linux)
            geteuid() == 0
        #else
            false
        #endif
    }

    /// - Parameter inodes: How many files and directories it has room for, with its own.
    package init(bytes: Int, inodes: Int? = nil) throws {
        directory = try TemporaryDirectory()
        path = directory.path
        let options = "size=\(bytes)" + (inodes.map { ",nr_inodes=\($0)" } ?? "")
        let outcome = try Program.run("/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", path])
        guard outcome.status == 0 else { throw StockShell.Failure(errors: outcome.errors) }
    }

    deinit {
        _ = try? Program.run("/bin/umount", ["-l", path])
    }

    package func file(_ name: String) -> String { path + "/" + name }
}
