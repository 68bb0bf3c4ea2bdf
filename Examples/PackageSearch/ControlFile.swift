import Foundation

/// One package of Debian's package database.
struct Package: Sendable {
    var name = ""
    var version = ""
    var section = ""
    var installedSize = 0
    var summary = ""
}

/// A file of paragraphs with `Field: value` lines, as dpkg keeps its status in (deb-control(5)).
enum ControlFile {
    /// The machine's own, or the sample beside this source.
    static var preferredPath: String {
        let own = "/var/lib/dpkg/status"
        let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("sample.status")
        return FileManager.default.isReadableFile(atPath: own) ? own : sample.path
    }

    static func read(_ path: String) throws -> [Package] {
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        var packages: [Package] = []
        var package = Package()
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                if !package.name.isEmpty { packages.append(package) }
                package = Package()
                continue
            }
            // A line that begins with a space goes on with the field before it.
            guard line.first != " ", let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            switch line[..<colon] {
            case "Package": package.name = value
            case "Version": package.version = value
            case "Section": package.section = value
            case "Installed-Size": package.installedSize = Int(value) ?? 0
            case "Description": package.summary = value
            default: break
            }
        }
        if !package.name.isEmpty { packages.append(package) }
        guard !packages.isEmpty else { throw DemoFailure("\(path) holds no package") }
        return packages
    }
}
