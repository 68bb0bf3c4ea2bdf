import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// A file of metrics that other programs read at any moment: it is replaced in one step. Everybody may read it, because the collector is
/// another user; it has no secret.
struct MetricsFile {
    let path: String
    /// How every file of these metrics begins: only such a file is replaced.
    let firstLine: String

    /// Replaces the content. A file of the name that has no metrics of `rekey` stays, such as a database; also one that gets the name
    /// meanwhile.
    ///
    /// - Throws: ``UnwritableMetrics``.
    func write(_ text: String) throws(UnwritableMetrics) {
        let isThere = try isThere()
        do throws(Errno) {
            try SignalHold.during { () throws(Errno) in try publish(Array(text.utf8), isThere: isThere) }
        } catch {
            throw UnwritableMetrics(
                path: path,
                cause: error == .exists ? Self.foreign : "\(error)",
                isOfTheSystem: error != .exists
            )
        }
    }

    /// Makes metrics that can no longer be replaced say nothing, so that nobody takes them for those of this run.
    ///
    /// - Returns: Whether there are none by now.
    func invalidate() -> Bool {
        guard let status = try? Platform.statusOfLink(path) else { return true }
        guard let descriptor = try? FileCalls.openExisting(path) else {
            return status.kind == .regular && hasMetrics(path) && (try? FileCalls.remove(path)) != nil
        }
        defer { Platform.close(descriptor) }
        return hasMetrics(descriptor) && (try? FileCalls.truncate(descriptor, path)) != nil
    }

    /// Whether metrics are there that may be replaced. Throws for another file.
    private func isThere() throws(UnwritableMetrics) -> Bool {
        guard !MetricsFile.belongsToDatabase(path) else {
            throw UnwritableMetrics(
                path: path,
                cause: "the name is that of a side file of a database; use another name"
            )
        }
        guard let status = try? Platform.statusOfLink(path) else { return false }
        guard status.kind == .regular else { throw UnwritableMetrics(path: path, cause: "not a file") }
        guard Platform.mayRead(path) else { throw UnwritableMetrics(path: path, cause: "\(Errno.noPermission)") }
        guard hasMetrics(path) else { throw UnwritableMetrics(path: path, cause: Self.foreign) }
        return true
    }

    /// Whether a database of the rest of the name would take the file for its own.
    private static func belongsToDatabase(_ path: String) -> Bool {
        let endings = SideFile.allCases.map { $0.path(of: "") } + [Keyring(besideDatabase: "").path]
        return endings.contains {
            path.utf8.count > $0.utf8.count && path.utf8.reversed().starts(with: $0.utf8.reversed())
        }
    }

    private static let foreign = "a file is there that has no metrics of rekey; it stays, give another name"

    /// Whether the file at `path` is one of these metrics, or empty; no link is followed.
    private func hasMetrics(_ path: String) -> Bool {
        guard (try? Platform.statusOfLink(path).kind) == .regular, let descriptor = try? Platform.openForReading(path)
        else { return false }
        defer { Platform.close(descriptor) }
        return hasMetrics(descriptor)
    }

    private func hasMetrics(_ descriptor: Int32) -> Bool {
        guard let status = try? Platform.status(of: descriptor), status.kind == .regular else { return false }
        let begin = Array(firstLine.utf8)
        var bytes = [UInt8](repeating: 0, count: begin.count)
        let count = try? bytes.withUnsafeMutableBytes { try Platform.read(descriptor, into: $0, at: 0) }
        return count == 0 || bytes == begin
    }

    private func publish(_ bytes: [UInt8], isThere: Bool) throws(Errno) {
        for leftover in try TemporaryName.metrics.paths(beside: path) { TemporaryFile.removeIfAbandoned(leftover) }
        let new = try TemporaryFile(.metrics, beside: path)
        guard let new else { throw .busy }
        var isOurs = true
        defer { if isOurs { new.discard() } else { new.close() } }
        try new.write(bytes)
        try FileCalls.setMode(0o644, of: new.descriptor, new.path)
        try new.sync()
        if isThere { try replace(by: new, &isOurs) } else { try new.publish(as: path) }
        try FileCalls.syncDirectory(of: path)
    }

    /// Where metrics have the name.
    private func replace(by new: TemporaryFile, _ isOurs: inout Bool) throws(Errno) {
        do throws(Errno) {
            try FileCalls.exchange(new.path, with: path)
        } catch .noSuchFile {
            return try new.publish(as: path)
        } catch {
            guard error.meansNoExchange else { throw error }
            guard hasMetrics(path) else { throw .exists }
            return try FileCalls.rename(new.path, over: path)
        }
        // What had the name has the new file's by now.
        isOurs = hasMetrics(new.path)
        guard isOurs else {
            try FileCalls.exchange(new.path, with: path)
            isOurs = true
            throw .exists
        }
    }
}

/// The metrics could not be written.
struct UnwritableMetrics: Error, CustomStringConvertible {
    let path: String
    let cause: String
    /// Whether a call of the system failed; else what is there may not be replaced.
    var isOfTheSystem = false

    var description: String { "\(path): the metrics were not written: \(cause)" }
}
