import Foundation

/// A program that is a `Contender`: another library.
struct Peer {
    let name: String
    let program: String

    /// Those of CIPHERDB_BENCH_PEERS, such as `GRDB=/path/GRDBBench:Other=/path/OtherBench`.
    static let all: [Peer] = (ProcessInfo.processInfo.environment["CIPHERDB_BENCH_PEERS"] ?? "")
        .split(separator: ":").map { entry in
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { fatalError("CIPHERDB_BENCH_PEERS: NAME=PROGRAM:…") }
            return Peer(name: parts[0], program: parts[1])
        }

    static let grdb = all.first { $0.name == "GRDB" }
}

extension BenchmarkFiles {
    /// A side for each peer, which does work of this name (see `Contender`).
    func peers(_ work: String, _ file: String, settings: String = BenchmarkFiles.settings, _ numbers: [Int] = [])
        -> [Side]
    {
        Peer.all.map { peer in
            // Each writes a file of its own.
            let path = path(file.replacingOccurrences(of: "SIDE", with: peer.name))
            return Side(
                name: peer.name,
                peer,
                [path, BenchmarkFiles.digits, settings, work] + numbers.map(String.init)
            )
        }
    }
}
