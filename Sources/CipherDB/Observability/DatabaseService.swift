#if ServiceLifecycle
    public import ServiceLifecycle

    extension DatabaseQueue: Service {}
    extension DatabasePool: Service {}

    extension DatabaseWriter {
        /// Waits for the shutdown of the service group, then copies the write-ahead log into the database file and closes the database.
        ///
        /// Blocks that run come to their end. A group shuts its services down last to first: put the database before what uses it.
        public func run() async {
            do {
                try await gracefulShutdown()
            } catch {
                // The group is cancelled, which is to end soon.
                interrupt()
            }
            // In a task of its own: one that is cancelled would not begin it.
            await Task {
                // Where another process reads, the log stays, and the next opening goes on with it.
                _ = try? await checkpoint(.truncate)
                // It is closed already where it fails.
                try? await close()
            }.value
        }
    }
#endif
