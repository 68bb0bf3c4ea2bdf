internal import CCipherEngine
internal import CipherKeys
internal import CipherSystem

/// Interrupts the statements of a connection, from any thread.
///
/// The statements that run at that moment fail with ``ResultCode/interrupted``; nothing happens where none does, or
/// after the connection was closed.
public final class Interrupter: Sendable {
    /// The address of the handle while it is open: a pointer could not leave its thread.
    private let handle = Lock<UInt>(0)
    /// A forked child has none of the threads that would release the lock, and runs no statement.
    private let owner = OwnerProcess()

    init() {}

    /// Interrupts the connection.
    public func interrupt() {
        guard owner.isCurrent else { return }
        handle.withLock { address in
            if let handle = OpaquePointer(bitPattern: address) { sqlite3_interrupt(handle) }
        }
    }

    func attach(_ connection: OpaquePointer) {
        let address = UInt(bitPattern: connection)
        handle.withLock { $0 = address }
    }

    func detach() {
        handle.withLock { $0 = 0 }
    }
}
