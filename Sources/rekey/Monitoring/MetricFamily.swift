internal import CipherKeys
internal import CipherSystem

/// A metric in the text format of Prometheus, with its samples.
struct MetricFamily {
    /// Letters, digits and `_`.
    let name: String
    let help: String
    let kind: Kind
    private(set) var samples: [Sample] = []

    enum Kind: String {
        case gauge
        /// What only grows, from 0 at the start. Its name ends with `_total`.
        case counter
    }

    struct Sample {
        let labels: [(name: String, value: String)]
        let value: Double
    }

    init(_ name: String, _ help: String, _ kind: Kind = .gauge) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    /// The text of metrics of one path, named by a prefix and theirs; one without a value is left out.
    static func text(
        _ prefix: String,
        of path: String,
        _ rows: [(name: String, help: String, value: Double?)]
    ) -> String {
        rows.map { row in
            var family = MetricFamily(prefix + row.name, row.help, row.name.hasSuffix("_total") ? .counter : .gauge)
            if let value = row.value { family.add(value, [("path", path)]) }
            return family.text
        }
        .joined()
    }

    mutating func add(_ value: Double, _ labels: [(name: String, value: String)] = []) {
        samples.append(Sample(labels: labels, value: value))
    }

    /// Empty without samples.
    var text: String {
        guard !samples.isEmpty else { return "" }
        let lines = samples.map { sample in
            let labels = sample.labels.map { "\($0.name)=\"\(MetricFamily.escaped($0.value))\"" }
            return name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") + " \(number(sample.value))"
        }
        return (["# HELP \(name) \(help)", "# TYPE \(name) \(kind)"] + lines).joined(separator: "\n") + "\n"
    }

    /// Without a fraction or an exponent where the number is an integer: for readers that are people.
    private func number(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }

    /// A label's value, which must be UTF-8: a byte of a path that is not is written as U+FFFD and two digits, a character that changes how
    /// text is displayed as U+FFFD and its number in braces, and U+FFFD twice, so that no two paths have one value. The collector would drop a file in which two samples are the same.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            let bytes = String(scalar).pathBytes
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            case "\u{FFFD}": text += "\u{FFFD}\u{FFFD}"
            case _ where bytes.count == 1 && bytes[0] >= 0x80: text += "\u{FFFD}" + String(bytes[0], radix: 16)
            case _ where scalar.changesDisplay: text += "\u{FFFD}{" + String(scalar.value, radix: 16) + "}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
