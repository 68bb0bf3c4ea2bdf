import Foundation

/// What the command line asks for.
struct Options {
    static let usage = """
        usage: Bench [--rounds N] [--rows N] [--sizes MiB,MiB,…] [--directory PATH] [--topic NAME,NAME,…]
                     [--workload NAME] [--side NAME] [--under COMMAND] [--json FILE] [--chart FILE]
          --workload, --side  only this one
          --under             the command, such as "perf stat", that runs the program of each side
        """

    var rounds = 4
    var rows = 200_000
    var sizes = [1, 64]
    var directory = FileManager.default.temporaryDirectory.path
    var topics: [String] = []
    var workload: String?
    var side: String?
    var under: [String] = []
    var json: String?
    var chart: String?
    /// The name of the workload whose side this process is: its parent measures.
    var served: String?

    init(_ arguments: [String]) {
        func words(_ text: String, _ separator: Character) -> [String] {
            text.split(separator: separator).map(String.init)
        }
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { Options.fail() }
            switch name {
            case "--rounds": rounds = Int(value) ?? rounds
            case "--rows": rows = Int(value) ?? rows
            case "--sizes": sizes = words(value, ",").compactMap { Int($0) }
            case "--directory": directory = value
            case "--topic": topics = words(value, ",")
            case "--workload": workload = value
            case "--side": side = value
            case "--under": under = words(value, " ")
            case "--json": json = value
            case "--chart": chart = value
            case "--serve": served = value
            default: Options.fail()
            }
        }
    }

    private static func fail() -> Never {
        print(usage)
        exit(2)
    }

    /// What starts a process for a side of a workload.
    func command(_ topic: String, _ workload: Workload, _ side: Side, in directory: String) -> [String] {
        switch side.program {
        case .this:
            under + [
                CommandLine.arguments[0], "--topic", topic, "--serve", workload.name, "--side", side.name,
                "--rows", "\(rows)", "--sizes", sizes.map(String.init).joined(separator: ","), "--directory", directory,
            ]
        case .peer(let peer, let arguments): under + [peer.program] + arguments
        }
    }
}
