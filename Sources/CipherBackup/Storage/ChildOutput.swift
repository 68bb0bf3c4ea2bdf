internal import CipherSystem
internal import Foundation

/// Reads what a program prints, up to a limit, while another thread waits for it.
final class ChildOutput: Sendable {
    private struct State {
        var bytes = Data()
        var isTooLong = false
        var hasEnded = false
    }

    private let state = Lock(State())

    /// - Parameter most: Bytes that are kept: the first ones.
    init(_ pipe: Pipe, most: Int) {
        let reader = pipe.fileHandleForReading
        Thread.detachNewThread { [state] in
            while let bytes = try? reader.read(upToCount: 1 << 16), !bytes.isEmpty {
                state.withLock { state in
                    state.isTooLong = state.isTooLong || state.bytes.count + bytes.count > most
                    state.bytes += bytes.prefix(most - state.bytes.count)
                }
            }
            state.withLock { $0.hasEnded = true }
        }
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// Whether there was more than is kept.
    var isTooLong: Bool { state.withLock { $0.isTooLong } }
    var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }
}
