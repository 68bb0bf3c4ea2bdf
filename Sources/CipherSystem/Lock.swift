#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// A value that one thread at a time touches.
///
/// By a POSIX mutex and not by `Synchronization.Mutex`, because ThreadSanitizer does not see on Linux that a thread had to
/// wait for the latter, and would report whatever was done under it.
package final class Lock<Value>: @unchecked Sendable {
    // Safe because the value is touched while the mutex is held only.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread touches the value. Neither the value nor a part of it can leave by the result, unless it is
    /// `Sendable` or was made for that.
    package func withLock<Result>(
        _ body: (inout sending Value) throws -> sending Result
    ) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// As ``withLock(_:)``; nil, without waiting, where another thread has the lock.
    package func withLockIfFree<Result>(
        _ body: (inout sending Value) throws -> sending Result
    ) rethrows -> sending Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

/// A lock that many threads share, or one has alone.
///
/// By POSIX, as ``Lock``.
package final class ReadWriteLock: @unchecked Sendable {
    // Safe because the lock is made once, and its functions are for many threads.
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    package init() {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_rwlock_t())
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// Runs `body` while others may have the lock in the same way.
    package func shared<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// Runs `body` while nobody else has the lock.
    package func exclusive<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }
}
