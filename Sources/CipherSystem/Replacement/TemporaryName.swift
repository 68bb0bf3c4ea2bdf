/// How a file is named that is to take the place of another: `NAME`, an infix and 16 hexadecimal digits. A later run recognises by it
/// what a killed one left.
package struct TemporaryName: Sendable {
    private let infix: String
    private static let digitCount = 16

    package static let keyring = TemporaryName(infix: ".new-")
    package static let database = TemporaryName(infix: ".rekey-")

    /// A path that nothing has.
    package func path(beside path: String) -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return path + infix + String(repeating: "0", count: TemporaryName.digitCount - digits.utf8.count) + digits
    }

    /// Whether `name` is such a name of a file called `owner`.
    ///
    /// - Parameter suffixes: What may follow the digits.
    package func matches(_ name: String, of owner: String, suffixes: [String] = [""]) -> Bool {
        let begin = Array((owner + infix).utf8)
        guard name.utf8.starts(with: begin) else { return false }
        let rest = name.utf8.dropFirst(begin.count)
        let digits = rest.prefix(TemporaryName.digitCount)
        let suffix = rest.dropFirst(TemporaryName.digitCount)
        return digits.count == TemporaryName.digitCount
            && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            && suffixes.contains { $0.utf8.elementsEqual(suffix) }
    }

    /// The paths of such files beside `path`, sorted.
    package func paths(beside path: String, suffixes: [String] = [""]) throws(Errno) -> [String] {
        let owner = FileCalls.name(of: path)
        return try FileCalls.names(beside: path).filter { matches($0, of: owner, suffixes: suffixes) }.sorted()
            .map { FileCalls.sibling($0, of: path) }
    }
}
