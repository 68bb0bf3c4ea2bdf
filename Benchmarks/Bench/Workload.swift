import Foundation
import Turns

/// A piece of work that several sides do, the first of which the others are measured by.
struct Workload {
    let name: String
    /// How many rows, queries or the like one run is.
    let count: Int
    let unit: String
    var goals: [String: Goal] = [:]
    /// A file that takes long to write: it stays, where the workload before has it, too.
    var keeps: String?
    /// Writes the files that are there before the sides begin.
    var setUp: () throws -> Void = {}
    let sides: [Side]
}

/// What a side's time over the first one's has to be.
enum Goal {
    case atMost(Double)
    case atLeast(Double)

    func isMet(_ ratio: Double) -> Bool {
        switch self {
        case .atMost(let limit): ratio <= limit
        case .atLeast(let limit): ratio >= limit
        }
    }

    var text: String {
        switch self {
        case .atMost(let limit): "at most " + String(format: "%.3g", limit)
        case .atLeast(let limit): "at least " + String(format: "%.3g", limit)
        }
    }
}

/// One way to do a piece of work, in a process of its own.
struct Side {
    enum Program {
        /// This program, which opens its connections and begins its work in `start`.
        case this(start: () throws -> Work)
        /// That of another library, see `Contender`.
        case peer(Peer, arguments: [String])
    }

    let name: String
    let program: Program

    var isPeer: Bool {
        if case .peer = program { true } else { false }
    }

    init(name: String, start: @escaping () throws -> Work) {
        self.name = name
        program = .this(start: start)
    }

    init(name: String, _ peer: Peer, _ arguments: [String]) {
        self.name = name
        program = .peer(peer, arguments: arguments)
    }
}
