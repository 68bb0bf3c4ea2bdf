internal import CCipherSystem
internal import CSQLCipher

/// The calls into the engine on one connection, which the end of the process waits for.
///
/// SQLCipher later than 4.6 fills its keys with random bytes and frees them when the process begins to end: a thread that is in the
/// engine then would crash, or encrypt what it writes under what has become of its key.
struct EngineWork {
    private let work: UnsafeMutablePointer<csystem_work>

    init() throws(DatabaseError) {
        guard let work = csystem_register_work() else { throw DatabaseError(.outOfMemory, "out of memory") }
        self.work = work
    }

    /// Has calls interrupted on `handle`, which is open.
    func interrupts(_ handle: OpaquePointer) {
        // After the engine registered its own handler, by opening: this one runs before.
        EngineWork.isHeldAtExit
        csystem_set_handle(work, UnsafeMutableRawPointer(handle))
    }

    /// The handle closes now.
    func detach() { csystem_set_handle(work, nil) }

    /// There are no more calls.
    func end() { csystem_remove_work(work) }

    /// Calls the engine.
    @inline(__always) func callAsFunction<Result>(_ call: () -> Result) -> Result {
        let outer = csystem_begin(work)
        defer { csystem_end(work, outer) }
        return call()
    }

    /// Whether this engine frees its keys at the end of the process: SQLCipher 4.6.1 has SQLite 3.46.1.
    static let freesKeysAtExit = sqlite3_libversion_number() > 3_046_001

    private static let isHeldAtExit: Void = {
        guard freesKeysAtExit else { return }
        csystem_hold_work_at_exit { handle in
            if let handle { sqlite3_interrupt(OpaquePointer(handle)) }
        }
    }()
}
