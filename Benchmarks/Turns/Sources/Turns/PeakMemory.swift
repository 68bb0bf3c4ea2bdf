import Foundation

/// How much more memory this process had at once than when the measuring began (proc(5): `VmHWM`, which writing 5 to `clear_refs`
/// resets); nothing where there is no such file.
struct PeakMemory {
    private let before: Int

    init() {
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        before = PeakMemory.kibibytes("VmRSS") ?? 0
    }

    var mebibytes: Double? {
        PeakMemory.kibibytes("VmHWM").map { Double(max(0, $0 - before)) / 1024 }
    }

    private static func kibibytes(_ name: String) -> Int? {
        guard let file = FileHandle(forReadingAtPath: "/proc/self/status"), let text = try? file.readToEnd() else {
            return nil
        }
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    }
}
