import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// A file of metrics that other programs read at any moment: it is replaced in one step. Everybody may read it, because the collector is
/// another user; it has no secret.
struct MetricsFile {
    let path: String
    /// How every file of these metrics begins: only such a file is replaced.
    let firstLine: String

    /// Replaces the content. A file of the name that has no metrics of `rekey` stays, such as a database.
    ///
    /// - Throws: ``UnwritableMetrics``.
    func write(_ text: String) throws {
        try checkOld()
        do throws(Errno) {
            try replace(with: Array(text.utf8))
        } catch {
            throw UnwritableMetrics(path: path, cause: "\(error)")
        }
    }

    /// Whether a database of the rest of the name would take the file for its own.
    private static func belongsToDatabase(_ path: String) -> Bool {
        let endings = SideFile.allCases.map { $0.path(of: "") } + [Keyring(besideDatabase: "").path]
        return endings.contains {
            path.utf8.count > $0.utf8.count && path.utf8.reversed().starts(with: $0.utf8.reversed())
        }
    }

    private func checkOld() throws {
        guard !MetricsFile.belongsToDatabase(path) else {
            throw UnwritableMetrics(
                path: path,
                cause: "the name is that of a side file of a database; use another name"
            )
        }
        guard let status = try? Platform.statusOfLink(path) else { return }
        guard status.kind == .regular else { throw UnwritableMetrics(path: path, cause: "not a file") }
        guard Platform.mayRead(path) else { throw UnwritableMetrics(path: path, cause: "\(Errno.noPermission)") }
        let begin = Array(firstLine.utf8)
        guard status.size == 0 || (try? FileBytes(path: path).read(begin.count, at: 0)) == begin else {
            throw UnwritableMetrics(
                path: path,
                cause: "a file is there that has no metrics of rekey; it stays, give another name"
            )
        }
    }

    private func replace(with bytes: [UInt8]) throws(Errno) {
        for leftover in try TemporaryName.metrics.paths(beside: path) { TemporaryFile.removeIfAbandoned(leftover) }
        let new = try TemporaryFile(.metrics, beside: path)
        guard let new else { throw .busy }
        do throws(Errno) {
            try new.write(bytes)
            try FileCalls.setMode(0o644, of: new.descriptor, new.path)
            try new.sync()
            try FileCalls.rename(new.path, over: path)
        } catch {
            new.discard()
            throw error
        }
        new.close()
        try FileCalls.syncDirectory(of: path)
    }
}

/// The metrics could not be written.
struct UnwritableMetrics: Error, CustomStringConvertible {
    let path: String
    let cause: String

    var description: String { "\(path): the metrics were not written: \(cause)" }
}
