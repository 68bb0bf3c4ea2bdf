internal import CipherKeys

/// One connection of a pool that only reads.
final class Reader: @unchecked Sendable {
    // It holds because a reader is either idle, under the pool's lock, or checked out by one block, whose turn it is.
    let database: Database
    /// For other threads: only one uses `database`.
    let interrupter: Interrupter?
    private let connection: Connection?

    init(_ database: Database) {
        self.database = database
        interrupter = database.interrupter
        connection = database.connection
        database.turn.share()
    }

    /// False if a block closed the connection, even if it opened it again.
    var isSound: Bool { connection != nil && database.connection === connection }
}
