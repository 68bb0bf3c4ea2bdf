import Foundation

extension Measurement {
    /// A line for each side: the time for one piece, its ratio to the first side's, and the memory that it took at
    /// most.
    func print() {
        Swift.print("\n\(workload.name)")
        for (index, side) in sides.enumerated() {
            let each = median(index) / Double(workload.count) * 1e9
            let goal = workload.goals[side.name].map { "goal \($0.text): \($0.isMet(ratio(index)) ? "met" : "MISSED")" }
            var fields = [
                side.name.padding(toLength: 28, withPad: " ", startingAt: 0),
                String(format: "%10.0f ns/%@", each, workload.unit),
                index == 0 ? "      " : String(format: "%6.2f", ratio(index)),
                String(format: "%6.1f MiB", memory[index]),
            ]
            if let median = median(index, \.median), let last = self.median(index, \.percentile99) {
                fields.append(String(format: "p50 %.2f µs, p99 %.2f µs", median * 1e6, last * 1e6))
            }
            Swift.print("  " + (fields + (goal.map { [$0] } ?? [])).joined(separator: "  "))
        }
    }
}

/// What is kept of a run.
private struct Record: Encodable {
    struct Side: Encodable {
        let name: String
        let seconds: [Double]
        let ratio: Double
        let peakMebibytes: Double
        let goal: String?
        /// Of single operations: the medians of the rounds, in seconds.
        let p50: Double?
        let p99: Double?
    }
    let workload: String
    let count: Int
    let unit: String
    let sides: [Side]

    init(_ measurement: Measurement) {
        let workload = measurement.workload
        self.workload = workload.name
        count = workload.count
        unit = workload.unit
        sides = measurement.sides.enumerated().map { index, side in
            Side(
                name: side.name,
                seconds: measurement.seconds(index),
                ratio: measurement.ratio(index),
                peakMebibytes: measurement.memory[index],
                goal: workload.goals[side.name]?.text,
                p50: measurement.median(index, \.median),
                p99: measurement.median(index, \.percentile99)
            )
        }
    }
}

extension [Measurement] {
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(map { Record($0) })
    }

    /// A bar for each side, as long as its ratio; the line is the first side.
    func chart() -> String {
        let (left, unit, height, longest) = (330, 120, 18, 4.5)
        var y = 30
        var body = ""
        for measurement in self {
            body += "<text x=\"10\" y=\"\(y)\" font-weight=\"bold\">\(measurement.workload.name)</text>\n"
            for (index, side) in measurement.sides.enumerated().dropFirst() {
                y += height
                let ratio = measurement.ratio(index)
                let goal = measurement.workload.goals[side.name]
                let color = goal.map { $0.isMet(ratio) ? "#2a7" : "#c52" } ?? (side.isPeer ? "#aab" : "#579")
                let width = Int(Swift.min(ratio, longest) * Double(unit))
                body += "<text x=\"20\" y=\"\(y)\">\(side.name)</text>"
                body += "<rect x=\"\(left)\" y=\"\(y - 11)\" width=\"\(width)\" height=\"13\" fill=\"\(color)\"/>"
                body += "<text x=\"\(left + width + 6)\" y=\"\(y)\">\(String(format: "%.2f", ratio))</text>\n"
            }
            y += height + 12
        }
        let line = "x1=\"\(left + unit)\" y1=\"20\" x2=\"\(left + unit)\" y2=\"\(y - 20)\""
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="960" height="\(y)" font-family="sans-serif" font-size="12">
            <rect width="960" height="\(y)" fill="white"/>
            <text x="10" y="14">time over that of the first, which is the line at 1: C on the same engine, \
            unless the name says otherwise. Green, red: a goal met, missed. Grey: another library.</text>
            \(body)<line \(line) stroke="#333" stroke-dasharray="3"/>
            </svg>

            """
    }
}
