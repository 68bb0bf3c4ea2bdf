import Foundation

extension Measurement {
    /// A line for each side: the time for one piece, its ratio to the first side's, and the memory that it took at most.
    func print() {
        Swift.print("\n\(workload.name)")
        for (index, side) in workload.sides.enumerated() {
            let each = median(index) / Double(workload.count) * 1e9
            let goal =
                workload.goals[side.name].map { ratio(index) <= $0 ? "goal \($0): met" : "goal \($0): MISSED" } ?? ""
            let fields = [
                side.name.padding(toLength: 28, withPad: " ", startingAt: 0),
                String(format: "%10.0f ns/%@", each, workload.unit),
                index == 0 ? "      " : String(format: "%6.2f", ratio(index)),
                String(format: "%6.1f MiB", memory[index]), goal,
            ]
            Swift.print("  " + fields.joined(separator: "  "))
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
        let goal: Double?
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
        sides = workload.sides.enumerated().map { index, side in
            Side(
                name: side.name,
                seconds: measurement.seconds[index],
                ratio: measurement.ratio(index),
                peakMebibytes: measurement.memory[index],
                goal: workload.goals[side.name]
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
        let (left, unit, height) = (330, 120, 18)
        var y = 30
        var body = ""
        for measurement in self {
            body += "<text x=\"10\" y=\"\(y)\" font-weight=\"bold\">\(measurement.workload.name)</text>\n"
            for (index, side) in measurement.workload.sides.enumerated().dropFirst() {
                y += height
                let ratio = measurement.ratio(index)
                let goal = measurement.workload.goals[side.name]
                let color = goal.map { ratio <= $0 ? "#2a7" : "#c52" } ?? "#579"
                let width = Swift.min(ratio, 4.5) * Double(unit)
                body += "<text x=\"20\" y=\"\(y)\">\(side.name)</text>"
                body += "<rect x=\"\(left)\" y=\"\(y - 11)\" width=\"\(Int(width))\" height=\"13\" fill=\"\(color)\"/>"
                body += "<text x=\"\(left + Int(width) + 6)\" y=\"\(y)\">\(String(format: "%.2f", ratio))</text>\n"
            }
            y += height + 12
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="960" height="\(y)" font-family="sans-serif" font-size="12">
            <rect width="960" height="\(y)" fill="white"/>
            <text x="10" y="14">time over that of C on the same engine, which is the line at 1</text>
            \(body)<line x1="\(left + unit)" y1="20" x2="\(left + unit)" y2="\(y - 20)" stroke="#333" stroke-dasharray="3"/>
            </svg>

            """
    }
}
