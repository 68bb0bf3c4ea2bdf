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

    /// - Parameters:
    ///   - descriptor: That of a pipe, which is closed at its end.
    ///   - most: Bytes that are kept: the first ones.
    init(_ descriptor: Int32, most: Int) {
        Thread.detachNewThread { [state] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while let count = try? buffer.withUnsafeMutableBytes({ try Platform.read(descriptor, into: $0) }), count > 0
            {
                state.withLock { state in
                    state.isTooLong = state.isTooLong || state.bytes.count + count > most
                    state.bytes += buffer.prefix(min(count, most - state.bytes.count))
                }
            }
            Platform.close(descriptor)
            state.withLock { $0.hasEnded = true }
        }
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// Whether there was more than is kept.
    var isTooLong: Bool { state.withLock { $0.isTooLong } }
    var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }
}
