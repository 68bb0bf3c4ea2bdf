import Foundation
import TestSupport

/// What a power failure could leave of one directory, at any moment of a program that was traced.
///
/// Written is what was synced, and of the rest nothing, all, or any part: a write in sectors of 512 bytes; names in their order,
/// because file systems keep a journal of those, until the directory is synced.
struct CrashStates {
    /// What a crash leaves of that which was not synced.
    enum Leftover {
        /// All: the process was killed, and the system lives.
        case everything
        case nothing
        case something
    }

    private enum Event {
        case create(file: Int, name: String)
        case write(file: Int, offset: Int, bytes: [UInt8])
        case truncate(file: Int, size: Int)
        case sync(file: Int)
        case syncNames
        case rename(String, String)
        case link(String, String)
        case unlink(String)
    }

    private let directory: String
    /// The content of files 0, 1, … before, by the order of their names.
    private let names: [String]
    private let contents: [[UInt8]]
    private var events: [Event] = []

    /// How many moments there are.
    var count: Int { events.count + 1 }

    struct Unreadable: Error { let line: String }

    static let isAvailable = (try? Program.run("/usr/bin/env", ["strace", "-o", "/dev/null", "true"]).status) == 0

    /// Traces `program`, which changes files in `directory`, where it must find its files by absolute paths.
    init(of program: String, _ arguments: [String], in directory: String) throws {
        self.directory = directory
        let before = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        names = before
        contents = try before.map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory + "/" + $0))) }
        let temporary = try TemporaryDirectory()
        let log = temporary.file("log")
        let calls =
            "openat,open,creat,close,dup,dup2,dup3,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fallocate,"
            + "fsync,fdatasync,sync_file_range,rename,renameat,renameat2,link,linkat,unlink,unlinkat,copy_file_range,sendfile"
        let outcome = try Program.run(
            "/usr/bin/env",
            ["strace", "-f", "-xx", "-s", "4000000", "-e", "trace=\(calls)", "-o", log, program] + arguments
        )
        guard outcome.status == 0 else { throw Unreadable(line: outcome.errors) }
        try read(String(contentsOfFile: log, encoding: .utf8))
    }

    // MARK: The log

    private mutating func read(_ log: String) throws {
        var files = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        var count = names.count
        /// What a descriptor is open on: a file's number, or -1 for the directory.
        var descriptors: [Int: Int] = [:]
        var unfinished: [Substring: Substring] = [:]
        for line in log.split(separator: "\n") {
            let process = line.prefix { $0 != " " }
            var call = line.dropFirst(process.count).drop { $0 == " " }
            if call.hasSuffix(" <unfinished ...>") {
                unfinished[process] = call.dropLast(17)
                continue
            }
            if call.hasPrefix("<... "), let resumed = call.firstRange(of: " resumed>") {
                call = (unfinished.removeValue(forKey: process) ?? "") + call[resumed.upperBound...]
            }
            // Results stand in one column.
            guard let open = call.firstIndex(of: "("), let equals = call.range(of: " = ", options: .backwards),
                let end = call[..<equals.lowerBound].lastIndex(of: ")"),
                let result = Int(call[equals.upperBound...].prefix { $0 == "-" || $0.isNumber }), result >= 0
            else { continue }
            let arguments = call[call.index(after: open)..<end].split(separator: ", ")
            func number(_ index: Int) -> Int { Int(arguments[index]) ?? -1 }
            func name(_ index: Int) -> String? {
                let path = String(decoding: CrashStates.bytes(arguments[index]), as: UTF8.self)
                return path.hasPrefix(directory + "/")
                    ? String(path.dropFirst(directory.count + 1)) : path == directory ? "" : nil
            }
            switch call[..<open] {
            case "openat":
                descriptors[result] = nil
                guard let name = name(1) else { break }
                if name.isEmpty {
                    descriptors[result] = -1
                } else if let file = files[name] {
                    descriptors[result] = file
                    if arguments[2].contains("O_TRUNC") { events.append(.truncate(file: file, size: 0)) }
                } else {
                    files[name] = count
                    descriptors[result] = count
                    events.append(.create(file: count, name: name))
                    count += 1
                }
            case "close": descriptors[number(0)] = nil
            case "pwrite64":
                guard let file = descriptors[number(0)] else { break }
                let bytes = CrashStates.bytes(arguments[1]).prefix(result)
                events.append(.write(file: file, offset: number(3), bytes: Array(bytes)))
            case "ftruncate":
                guard let file = descriptors[number(0)] else { break }
                events.append(.truncate(file: file, size: number(1)))
            case "fsync", "fdatasync":
                guard let file = descriptors[number(0)] else { break }
                events.append(file < 0 ? .syncNames : .sync(file: file))
            case "rename":
                guard let old = name(0), let new = name(1) else { break }
                files[new] = files.removeValue(forKey: old)
                events.append(.rename(old, new))
            case "link":
                guard let old = name(0), let new = name(1) else { break }
                files[new] = files[old]
                events.append(.link(old, new))
            case "unlink":
                guard let name = name(0) else { break }
                files[name] = nil
                events.append(.unlink(name))
            case let other:
                // Another call on a file of the directory is one that this does not know.
                guard descriptors[number(0)] == nil, !arguments.indices.contains(where: { name($0) != nil }) else {
                    throw Unreadable(line: String(other))
                }
            }
        }
    }

    /// The bytes of a string as `-xx` writes it: `"\x2f\x74"`.
    private static func bytes(_ text: Substring) -> [UInt8] {
        let text = Array(text.utf8.dropFirst())
        func digit(_ character: UInt8) -> UInt8 { character < 58 ? character - 48 : character - 87 }
        return stride(from: 0, to: text.count - 3, by: 4).compactMap {
            text[$0] == UInt8(ascii: "\\") ? digit(text[$0 + 2]) << 4 | digit(text[$0 + 3]) : nil
        }
    }

    // MARK: States

    private struct File {
        var synced: [UInt8]
        var pending: [Event] = []
    }

    /// Writes what a crash after so many events leaves into `target`, which is emptied.
    ///
    /// - Parameter ignoringSync: As if no sync had any effect.
    func write(
        after count: Int,
        _ leftover: Leftover,
        ignoringSync: Bool = false,
        to target: String,
        using random: inout SplitMix
    ) throws {
        var files = contents.map { File(synced: $0) }
        var names = Dictionary(uniqueKeysWithValues: self.names.enumerated().map { ($1, $0) })
        var pendingNames: [Event] = []
        for event in events.prefix(count) {
            switch event {
            case .create:
                files.append(File(synced: []))
                pendingNames.append(event)
            case .rename, .link, .unlink: pendingNames.append(event)
            case .write(let file, _, _), .truncate(let file, _): files[file].pending.append(event)
            case .sync(let file):
                guard !ignoringSync else { break }
                for change in files[file].pending { CrashStates.apply(change, to: &files[file].synced) }
                files[file].pending = []
            case .syncNames:
                guard !ignoringSync else { break }
                for change in pendingNames { CrashStates.apply(change, to: &names) }
                pendingNames = []
            }
        }
        let left =
            switch leftover {
            case .everything: pendingNames.count
            case .nothing: 0
            case .something: Int.random(in: 0...pendingNames.count, using: &random)
            }
        for change in pendingNames.prefix(left) { CrashStates.apply(change, to: &names) }
        for file in files.indices {
            for change in files[file].pending {
                switch leftover {
                case .everything: CrashStates.apply(change, to: &files[file].synced)
                case .nothing: break
                case .something:
                    for part in CrashStates.sectors(change) where Bool.random(using: &random) {
                        CrashStates.apply(part, to: &files[file].synced)
                    }
                }
            }
        }
        try? FileManager.default.removeItem(atPath: target)
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        // What the engine shares between processes does not outlive them.
        for (name, file) in names where !name.hasSuffix("-shm") {
            try Data(files[file].synced).write(to: URL(fileURLWithPath: target + "/" + name))
        }
    }

    private static func apply(_ change: Event, to names: inout [String: Int]) {
        switch change {
        case .create(let file, let name): names[name] = file
        case .rename(let old, let new): names[new] = names.removeValue(forKey: old)
        case .link(let old, let new): names[new] = names[old]
        case .unlink(let name): names[name] = nil
        default: break
        }
    }

    private static func apply(_ change: Event, to content: inout [UInt8]) {
        switch change {
        case .write(_, let offset, let bytes):
            let end = offset + bytes.count
            if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
            content.replaceSubrange(offset..<end, with: bytes)
        case .truncate(_, let size):
            content = Array(content.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - content.count))
        default: break
        }
    }

    private static func sectors(_ change: Event) -> [Event] {
        guard case .write(let file, let offset, let bytes) = change else { return [change] }
        var parts: [Event] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, ((offset + start) / 512 + 1) * 512 - offset)
            parts.append(.write(file: file, offset: offset + start, bytes: Array(bytes[start..<end])))
            start = end
        }
        return parts
    }
}
