import Foundation
import Turns

/// The process of a side. Not by Foundation's `Process`, whose waiting for an end takes longer than many a turn.
final class SideProcess {
    private let command: [String]
    private let process: pid_t
    private let input: FileHandle
    private let output: FileHandle
    private var read = Data()

    /// - Parameter command: A program, by its path or to be found by PATH, and its arguments.
    init(_ command: [String]) throws {
        self.command = command
        let (input, output) = (Pipe(), Pipe())
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        // Or the process would hold its own input open.
        posix_spawn_file_actions_addclose(&actions, input.fileHandleForWriting.fileDescriptor)
        let arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], &actions, nil, arguments, environ)
        guard code == 0 else { throw Failed(command: command, reason: String(cString: strerror(code))) }
        self.process = process
        self.input = input.fileHandleForWriting
        self.output = output.fileHandleForReading
    }

    /// Lets it take its turn, and waits for its answer.
    func turn() throws -> Answer {
        try input.write(contentsOf: Data("turn\n".utf8))
        while true {
            if let end = read.firstIndex(of: 0x0a) {
                let answer = try JSONDecoder().decode(Answer.self, from: read[read.startIndex..<end])
                read.removeSubrange(read.startIndex...end)
                return answer
            }
            let more = output.availableData
            guard !more.isEmpty else { throw Failed(command: command, reason: "it ended before its answer") }
            read += more
        }
    }

    /// Without another line it ends.
    func end() {
        try? input.close()
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    struct Failed: Error {
        let command: [String]
        let reason: String
    }
}
