/// Reads the text format of Prometheus, strictly: what its collector would refuse is an error here.
package struct MetricsText {
    package struct Sample: Hashable {
        package let name: String
        package let labels: [String: String]

        package init(name: String, labels: [String: String]) {
            self.name = name
            self.labels = labels
        }
    }

    package struct Malformed: Error { package let line: String }

    package private(set) var samples: [Sample: Double] = [:]

    package init(_ text: String) throws {
        guard text.last == "\n" else { throw Malformed(line: "no line ending at the end") }
        var types: Set<String> = []
        var helped: Set<String> = []
        var family = ""
        // By bytes: to Swift, CR LF is one character.
        for part in text.utf8.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = String(part) ?? ""
            if let found = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) .+/) {
                guard helped.insert(String(found.output.1)).inserted else { throw Malformed(line: line) }
            } else if let found = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) gauge/) {
                family = String(found.output.1)
                // The samples of a family stand together, behind its type.
                guard helped.contains(family), types.insert(family).inserted else { throw Malformed(line: line) }
            } else if !line.hasPrefix("# ") || line.hasPrefix("# HELP") || line.hasPrefix("# TYPE") {
                let (sample, value) = try MetricsText.sample(line)
                guard sample.name == family, samples.updateValue(value, forKey: sample) == nil else {
                    throw Malformed(line: line)
                }
            }
        }
    }

    /// The value of a sample of one file; of none where `path` is nil.
    package func value(_ name: String, _ path: String? = nil) -> Double? {
        samples[Sample(name: name, labels: path.map { ["path": $0] } ?? [:])]
    }

    private static func sample(_ line: String) throws -> (Sample, Double) {
        guard let found = line.wholeMatch(of: /(?s)([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? ([-+.e0-9]+)/),
            let value = Double(found.output.3)
        else { throw Malformed(line: line) }
        var labels: [String: String] = [:]
        var rest = (found.output.2 ?? "{}").unicodeScalars.dropFirst()
        while let first = rest.first, first != "}" {
            let name = rest.prefix { $0 != "=" }
            rest = rest.dropFirst(name.count)
            guard String(name).wholeMatch(of: /[a-zA-Z_][a-zA-Z0-9_]*/) != nil, rest.starts(with: "=\"".unicodeScalars)
            else { throw Malformed(line: line) }
            rest = rest.dropFirst(2)
            var label = ""
            while let scalar = rest.popFirst(), scalar != "\"" {
                if scalar != "\\" {
                    label.unicodeScalars.append(scalar)
                    continue
                }
                switch rest.popFirst() {
                case "\\"?: label += "\\"
                case "\""?: label += "\""
                case "n"?: label += "\n"
                default: throw Malformed(line: line)
                }
            }
            labels[String(name)] = label
            if rest.first == "," { rest = rest.dropFirst() }
        }
        guard rest.count == 1 else { throw Malformed(line: line) }
        return (Sample(name: String(found.output.1), labels: labels), value)
    }
}
