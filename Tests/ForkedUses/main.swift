import CipherDB
import CipherKeys
import Dispatch
import Foundation

// Argument: how the child comes to be. Prints a line for each use: its name, what the child saw, and what else was not as expected. With the
// argument `life` a line for each point in the life of one database.

/// What the child saw.
private func answer(to call: Use.Call, _ way: Way) -> String {
    switch call {
    case .waiting(let body):
        let fork = Fork(way)
        guard fork.isChild else { return fork.collect() }
        do {
            try body()
            fork.answer(Use.Answer.returned.rawValue)
        } catch {
            fork.answer(Use.answer(to: error))
        }
        fork.endProcess()
    case .inTask(let body):
        return answer(inTask: body, way) {
            // The first asynchronous call is the parent's.
            _ = try? await Keyring(path: "/").content().slots
        }
    }
}

/// A line of what a use came to.
private func line(_ use: Use, _ way: Way) throws -> String {
    let scene = try Scene()
    var call: Use.Call? = try use.prepare(scene)
    let before = try scene.content()
    var line = "\(use.name): \(call.map { answer(to: $0, way) } ?? "")"
    let after = try scene.content()
    let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    if !changed.isEmpty { line += ", changed \(changed.joined(separator: " "))" }
    // What was opened before the fork ends.
    call = nil
    do {
        try scene.check()
    } catch {
        line += ", then \(error)"
    }
    return line
}

/// What the child of a task saw, before which the task ran `first`.
private func answer(
    inTask body: @escaping @Sendable () async throws -> Void,
    _ way: Way,
    after first: @escaping @Sendable () async -> Void
) -> String {
    nonisolated(unsafe) var answer = ""
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
        await first()
        let fork = Fork(way)
        if fork.isChild {
            do {
                try await body()
                fork.answer(Use.Answer.returned.rawValue)
            } catch {
                fork.answer(Use.answer(to: error))
            }
            _exit(0)
        }
        answer = fork.collect()
        isDone.signal()
    }
    isDone.wait()
    return answer
}

guard let way = Way(rawValue: CommandLine.arguments[1]) else { exit(64) }
if CommandLine.arguments.contains("life") {
    try Life(way).run()
} else if CommandLine.arguments.contains("tasks") {
    // The process ran a task, and made no asynchronous call of CipherDB.
    let scene = try Scene()
    print(answer(inTask: { try await DatabaseQueue(path: scene.newPath, key: Scene.key()).close() }, way) {})
} else {
    for use in Use.all { print(try line(use, way)) }
}
