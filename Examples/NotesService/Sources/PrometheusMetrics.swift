import Foundation
import Metrics

/// What swift-metrics reports, for GET /metrics in Prometheus' text format: counters and gauges as they are, times as `_count`, `_sum` and
/// `_max`. A program may have swift-prometheus in its place.
final class PrometheusMetrics: MetricsFactory, @unchecked Sendable {
    // It holds because `lock` is around each use of `samples`.
    private let lock = NSLock()
    private var samples: [String: Sample] = [:]

    /// One name with its labels. The lock of the factory is around its use.
    final class Sample: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler,
        @unchecked Sendable
    {
        fileprivate let name: String
        fileprivate let labels: String
        fileprivate let kind: String
        private let lock = NSLock()
        private var (count, sum, most) = (0, 0.0, 0.0)

        fileprivate init(_ name: String, _ labels: String, _ kind: String) {
            (self.name, self.labels, self.kind) = (name, labels, kind)
        }

        private func add(_ value: Double) {
            lock.withLock {
                count += 1
                sum += value
                most = max(most, value)
            }
        }

        func increment(by amount: Int64) { add(Double(amount)) }
        func increment(by amount: Double) { add(amount) }
        func decrement(by amount: Double) { add(-amount) }
        func reset() { lock.withLock { (count, sum, most) = (0, 0, 0) } }
        func set(_ value: Int64) { set(Double(value)) }
        func set(_ value: Double) { lock.withLock { sum = value } }
        func record(_ value: Int64) { add(Double(value)) }
        func record(_ value: Double) { add(value) }
        func recordNanoseconds(_ duration: Int64) { add(Double(duration) / 1e9) }

        fileprivate var lines: [String] {
            lock.withLock {
                guard kind == "summary" else { return ["\(name)\(labels) \(sum)"] }
                return [
                    "\(name)_count\(labels) \(count)", "\(name)_sum\(labels) \(sum)", "\(name)_max\(labels) \(most)",
                ]
            }
        }
    }

    /// All of it, as a scrape gets it.
    var text: String {
        let all = lock.withLock { Array(samples.values) }.sorted { ($0.name, $0.labels) < ($1.name, $1.labels) }
        var lines: [String] = []
        for (index, sample) in all.enumerated() {
            if index == 0 || all[index - 1].name != sample.name { lines.append("# TYPE \(sample.name) \(sample.kind)") }
            lines += sample.lines
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func sample(_ label: String, _ dimensions: [(String, String)], _ kind: String, _ suffix: String = "")
        -> Sample
    {
        let name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }) + suffix
        let pairs = dimensions.map { key, value in
            let value = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(key)=\"\(value)\""
        }
        let labels = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        return lock.withLock {
            if let present = samples[name + labels] { return present }
            let new = Sample(name, labels, kind)
            samples[name + labels] = new
            return new
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        sample(label, dimensions, "counter", "_total")
    }

    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        sample(label, dimensions, "counter", "_total")
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        sample(label, dimensions, "gauge")
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        sample(label, dimensions, aggregate ? "summary" : "gauge")
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        sample(label, dimensions, "summary", "_seconds")
    }

    // Counters go on from where they were when a database of the same name is opened again.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
