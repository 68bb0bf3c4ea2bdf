import Foundation

/// Another library in a process of its own, which does what it is told to on the same engine.
final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var read = Data()

    /// - Parameter program: Where ``grdb`` says that it is.
    init(_ program: String, path: String) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [path, BenchmarkFiles.digits]
        // Under the name of SQLite's library the loader finds the engine's here.
        if let directory = ProcessInfo.processInfo.environment["CIPHERDB_BENCH_ENGINE"] {
            var environment = ProcessInfo.processInfo.environment
            environment["LD_LIBRARY_PATH"] = directory
            process.environment = environment
        }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// The process with GRDB, where Scripts/bench.sh could build it.
    static var grdb: String? { ProcessInfo.processInfo.environment["CIPHERDB_BENCH_GRDB"] }

    /// Has it do something, and waits for the sum.
    func ask(_ line: String) -> Int64 {
        input.fileHandleForWriting.write(Data((line + "\n").utf8))
        while true {
            if let end = read.firstIndex(of: 0x0a) {
                let answer = String(decoding: read[read.startIndex..<end], as: UTF8.self)
                read.removeSubrange(read.startIndex...end)
                return Int64(answer) ?? Int64.min
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { fatalError("the peer ended") }
            read += more
        }
    }
}
