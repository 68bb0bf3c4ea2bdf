import CipherDB
import Foundation
import InMemoryTracing
import Metrics
import MetricsTestKit
import Tracing

/// What metrics and spans go to in these tests; a process can set it once.
enum Backends {
    static let metrics: TestMetrics = {
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }()

    static let tracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()
}

/// A directory of its own for a test, and a database in it whose name no other test has.
final class Scratch {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("traits-\(UUID().uuidString)").path
    let name = "\(UUID().uuidString).db"
    var path: String { directory + "/" + name }

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The spans of this database.
    var spans: [FinishedInMemorySpan] {
        Backends.tracer.finishedSpans.filter { "\($0.attributes["db.namespace"] as Any)".contains(name) }
    }
}

extension FinishedInMemorySpan {
    var sql: String? {
        guard case .string(let sql) = attributes["db.query.text"]?.toSpanAttribute() else { return nil }
        return sql
    }
}
