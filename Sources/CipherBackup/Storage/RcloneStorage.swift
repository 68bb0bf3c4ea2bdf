internal import CipherSystem
internal import SQLiteFormat

/// A repository that the program rclone reaches: an object store or a file server. It has no locks: two writers do not meet, because no
/// name is used twice.
struct RcloneStorage: BackupStorage {
    /// What rclone takes: `REMOTE:PATH`.
    private let remote: String
    var description: String { RcloneStorage.scheme + remote }
    /// Where manifests are until they are whole: what is cut off there is no generation.
    private static let incoming = "incoming"

    private static let scheme = "rclone:"

    /// Nil where the location is none of rclone's.
    init?(location: String) {
        guard location.prefix(RcloneStorage.scheme.count).lowercased() == RcloneStorage.scheme else { return nil }
        remote = String(location.dropFirst(RcloneStorage.scheme.count))
    }

    /// Throws where the location names no remote: rclone would take it for a directory of this machine.
    private func path(of name: String) throws(BackupError) -> String {
        guard remote.contains(":") else { throw BackupError(.unusableLocation, path: description) }
        return remote + (remote.hasSuffix(":") || remote.hasSuffix("/") ? "" : "/") + name
    }

    func prepare() throws { _ = try path(of: "") }

    func names(in directory: String) throws -> [String] { try list(directory) }

    /// Those of yesterday and before: a backup that runs since then has stored its manifest, or never will.
    func settledNames(in directory: String) throws -> [String] { try list(directory, ["--min-age", "1d"]) }

    func sizes(in directory: String) throws -> [String: Int64] {
        let lines = try list(directory, ["--format", "sp", "--separator", " "]).map {
            $0.split(separator: " ", maxSplits: 1)
        }
        let pairs = lines.compactMap { parts in
            parts.count == 2 ? Int64(parts[0]).map { (String(parts[1]), $0) } : nil
        }
        return Dictionary(pairs) { $1 }
    }

    private func list(_ directory: String, _ options: [String] = []) throws -> [String] {
        let command = RcloneCommand(["lsf", "--files-only"] + options + ["--", try path(of: directory)])
        let outcome = try command.run(accepting: [.directoryNotFound])
        return outcome.output.split(separator: "\n").map(String.init).sorted()
    }

    func open(_ name: String, from offset: UInt64, most: UInt64) throws -> any PageSource {
        let file = try ScratchFile.named()
        defer { file.discard() }
        let command = RcloneCommand([
            "cat", "--offset", String(offset), "--count", String(most), "--", try path(of: name),
        ])
        let outcome = try command.run(accepting: [.directoryNotFound, .fileNotFound], into: file)
        let bytes = try FileBytes(path: file.path)
        // An object store takes the name of a missing object for that of an empty directory.
        guard outcome.status == .done, try bytes.size() > 0 else {
            throw BackupError(.missingObject, path: "\(description)/\(name)")
        }
        return offset == 0 ? bytes : ShiftedBytes(bytes: bytes, offset: Int64(offset))
    }

    func newObject(_ name: String) throws -> NewObject {
        try NewObject(name, beside: ScratchFile.path)
    }

    func add(_ object: NewObject) throws {
        let place = try path(of: object.name)
        // Segments get their names from manifests that are stored later.
        guard !object.name.hasPrefix("segments/") else {
            return _ = try RcloneCommand(["copyto", "--", object.file.path, place]).run()
        }
        let incoming = try path(of: RcloneStorage.incoming + "/" + FileCalls.name(of: object.name))
        try RcloneCommand.repeating {
            try RcloneCommand(["copyto", "--", object.file.path, incoming]).runOnce()
            try RcloneCommand(["moveto", "--", incoming, place]).runOnce()
        }
    }

    func remove(_ name: String) throws {
        _ = try RcloneCommand(["deletefile", "--", try path(of: name)]).run(accepting: [
            .fileNotFound, .directoryNotFound,
        ])
    }

    func locked<Result>(exclusively: Bool, _ body: () throws -> Result) throws -> Result {
        if exclusively { removeLeftovers() }
        return try body()
    }

    /// Removes the local copies that killed runs left; those of other processes are locked.
    private func removeLeftovers() {
        for path in (try? TemporaryName.backup.paths(beside: ScratchFile.path)) ?? [] {
            TemporaryFile.removeIfAbandoned(path)
        }
    }

    // MARK: Local copies

    /// The end of an object, with the offsets of the whole.
    private struct ShiftedBytes: PageSource {
        let bytes: FileBytes
        let offset: Int64

        func size() throws -> Int64 { try bytes.size() + offset }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            guard offset >= self.offset else { return 0 }
            return try bytes.read(into: buffer, at: offset - self.offset)
        }
    }
}
