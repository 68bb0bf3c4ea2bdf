import Foundation

/// The workloads, in the order of the report.
struct Topic {
    let name: String
    let workloads: (BenchmarkFiles) -> [Workload]

    /// Those that are asked for, or all but the one of settings, which compares CipherDB with itself.
    static func all(_ options: Options) -> [Topic] {
        let rows = options.rows
        return [
            Topic(name: "insert") { [.bulkInsert($0)] },
            Topic(name: "count") { [.count($0)] },
            Topic(name: "scan") { [.scan($0, isCached: false)] },
            Topic(name: "scan-cached") { [.scan($0, isCached: true)] },
            Topic(name: "decode") { [.decode($0, .codable), .decode($0, .byHand)] },
            Topic(name: "borrow") { [.scanBorrowing($0, isCached: false), .scanBorrowing($0, isCached: true)] },
            Topic(name: "points") { files in PointsCache.allCases.map { .points(files, $0, count: rows / 4) } },
            Topic(name: "points-alone") { [.pointsAlone($0, count: rows / 4)] },
            Topic(name: "ranges") { [.ranges($0, count: rows / 100)] },
            Topic(name: "small") { [.small($0, count: rows)] },
            Topic(name: "commit") {
                [.autocommit($0, .delete, count: rows / 400), .autocommit($0, .wal, count: rows / 100)]
            },
            Topic(name: "blobs") { Workload.blobs($0, count: max(1, rows / 4000)) },
            Topic(name: "texts") { Workload.texts($0, count: rows / 4) },
            Topic(name: "wide") { Workload.wide($0, count: rows / 10) },
            Topic(name: "readers") { files in
                [1, 2, 4, 8].map { .throughput(files, readers: $0, blocks: rows / 400) }
            },
            Topic(name: "writers") {
                [
                    .writers($0, 64, blocks: max(64, rows / 3000)),
                    .readsBesideWriters($0, 4, count: rows / 10),
                ]
            },
            Topic(name: "opening") { [.opening($0, count: 200), .passphrase($0)] },
            Topic(name: "single") { Workload.singleOperations($0, count: rows / 40) },
            Topic(name: "sizes") { files in
                options.sizes.flatMap { Workload.ofSize(files, mebibytes: $0, points: rows / 20) }
            },
            Topic(name: "settings") { Workload.settings($0, count: rows / 100) },
        ].filter { options.topics.isEmpty ? $0.name != "settings" : options.topics.contains($0.name) }
    }
}
