internal import CipherSystem
package import Foundation

/// A program that runs beside a test. It is killed, and waited for, when the test lets go of it.
///
/// Not a `Process`, which takes a program for running as long as any has the descriptors that it got, and needs a run loop.
package final class StartedProgram: Sendable {
    /// What its standard input is.
    package enum Input {
        case none
        /// The file of this path.
        case file(String)
        /// What ``type(_:)`` writes, until ``endInput()``.
        case typed
    }

    /// How an output stream is collected.
    package enum Output {
        case none
        /// That of the tests.
        case shown
        case piped
        /// Appended to the file of this path.
        case file(String)
    }

    private let child: ChildProcess
    private let input: Lock<FileHandle?>
    private let ending = Lock<ChildProcess.Ending?>(nil)
    /// Where its standard output is read, and its standard error, if they are piped.
    package let output: FileHandle
    package let errors: FileHandle

    /// - Parameter environment: Over that of the tests.
    package init(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        input: Input = .none,
        output: Output = .shown,
        errors: Output = .shown
    ) throws {
        var files: [FileHandle] = []
        func stream(_ output: Output) throws -> ChildProcess.Stream {
            switch output {
            case .shown: return .inherited
            case .piped: return .piped
            case .none: files.append(FileHandle.nullDevice)
            case .file(let path):
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                try file.seekToEnd()
                files.append(file)
            }
            return .descriptor(files.last!.fileDescriptor)
        }
        let variables = environment.map { "\($0)=\($1)" }
        var (source, typed, directory): (String, FileHandle?, TemporaryDirectory?) = ("/dev/null", nil, nil)
        // The files are open, and the pipe has its name, until the program has them.
        defer { withExtendedLifetime((files, directory)) {} }
        switch input {
        case .none: break
        case .file(let path): source = path
        case .typed:
            let place = try TemporaryDirectory()
            guard mkfifo(place.file("input"), 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            (source, directory) = (place.file("input"), place)
            // Open at both ends, no opening waits, and typing to a program that is gone is no signal.
            typed = FileHandle(forUpdatingAtPath: place.file("input"))
        }
        child = try ChildProcess(
            variables.isEmpty ? [path] + arguments : ["/usr/bin/env"] + variables + [path] + arguments,
            input: source,
            output: stream(output),
            errors: stream(errors)
        )
        self.input = Lock(typed)
        (self.output, self.errors) = (StartedProgram.reading(child.output), StartedProgram.reading(child.errors))
    }

    deinit {
        kill(SIGKILL)
        _ = try? wait()
    }

    private static func reading(_ descriptor: Int32) -> FileHandle {
        descriptor < 0 ? .nullDevice : FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    package var number: Int32 { child.number }

    package var isRunning: Bool { ending.withLock { $0 == nil && !child.hasEnded } }

    package func type(_ bytes: Data) throws { try input.withLock { $0 }?.write(contentsOf: bytes) }

    package func endInput() throws { try input.withLock { $0.take() }?.close() }

    package func kill(_ signal: Int32) {
        ending.withLock { if $0 == nil { child.kill(signal) } }
    }

    /// Blocks the thread until it has ended, and kills it where that takes so long that it hangs; returns its exit status, or the negative
    /// number of the signal that ended it.
    package func wait() throws -> Int32 {
        try endInput()
        let end = try ending.withLock { ending in
            if ending == nil, !child.hasEnded(by: .now + .seconds(30 * Extent.minutesOfAHang)) { child.kill(SIGKILL) }
            let end = try ending ?? child.wait()
            ending = end
            return end
        }
        switch end {
        case .exit(let status): return status
        case .signal(let number): return -number
        }
    }
}
