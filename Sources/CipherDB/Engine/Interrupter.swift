internal import CSQLCipher
internal import CipherKeys
internal import CipherSystem

/// Interrupts the statements of a connection, from any thread.
///
/// The statements that run at that moment fail with ``ResultCode/interrupted``; nothing happens where none does, or
/// after the connection was closed.
public final class Interrupter: Sendable {
    private struct State {
        /// That of the handle while it is open: a pointer could not leave its thread.
        var address: UInt = 0
        /// How many calls run that nothing interrupts, one inside of the other.
        var undoing = 0
    }
    private let state = Lock(State())
    /// A forked child has none of the threads that would release the lock, and runs no statement.
    private let owner = OwnerProcess()

    init() {}

    /// Interrupts the connection.
    public func interrupt() {
        guard owner.isCurrent else { return }
        state.withLock { state in
            guard state.undoing == 0, let handle = OpaquePointer(bitPattern: state.address) else { return }
            sqlite3_interrupt(handle)
        }
    }

    /// Runs what undoes a change or a setting, and is not interrupted.
    func undoing<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        state.withLock { $0.undoing += 1 }
        defer { state.withLock { $0.undoing -= 1 } }
        try body()
    }

    func attach(_ connection: OpaquePointer) {
        let address = UInt(bitPattern: connection)
        state.withLock { $0.address = address }
    }

    func detach() {
        state.withLock { $0.address = 0 }
    }
}
