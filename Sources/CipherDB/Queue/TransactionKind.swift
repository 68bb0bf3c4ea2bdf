/// When a transaction takes its locks (sqlite.org/lang_transaction.html).
public enum TransactionKind: String, Sendable {
    /// At the first statement that needs them. A transaction that reads first and writes later may then find the
    /// database busy in the middle.
    case deferred = "DEFERRED"
    /// The lock for writing at once; others go on reading.
    case immediate = "IMMEDIATE"
    /// Every lock at once; in rollback mode nobody else can read.
    case exclusive = "EXCLUSIVE"
}
