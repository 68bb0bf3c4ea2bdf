internal import CCipherSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// System calls that more than one module makes, retried where a signal interrupts them.
package enum Platform {
    /// Gives the system back what this process has freed, which the C library of Linux keeps otherwise.
    package static func giveMemoryBack() { csystem_give_memory_back() }

    /// Reads up to the size of `buffer`; 0 at the end. Throws the `errno`.
    package static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try retrying { systemRead(descriptor, buffer.baseAddress, buffer.count) }
    }

    /// Reads up to the size of `buffer` at `offset`; fewer bytes only at the end of the file. Throws the `errno`.
    package static func read(
        _ descriptor: Int32,
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let position = off_t(offset) + off_t(done)
            let count = try retrying { pread(descriptor, buffer.baseAddress! + done, buffer.count - done, position) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Calls with the bytes of `path`, again as long as a signal interrupts. Throws the `errno` of a negative result, and
    /// ``Errno/nul`` for a path with a NUL character: the system would take what stands before it for the path.
    package static func call(_ path: String, _ body: (UnsafePointer<CChar>) -> Int) throws(Errno) -> Int {
        if path.hasByte(0) { throw .nul }
        return try retrying { path.withPathCharacters(body) }
    }

    /// Whether two pieces of bytes are the same; not for secrets, as it ends with the first that differs.
    package static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress else {
            return false
        }
        return memcmp(first, second, left.count) == 0
    }

    /// Whether one of the bytes is this one.
    package static func has(_ byte: UInt8, _ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
    }

    /// The bytes of a C string.
    package static func pathBytes(_ pointer: UnsafePointer<CChar>) -> [UInt8] {
        UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)).map { $0 }
    }

    /// The descriptor on which this process has the file of `identity` open; nil where it has not.
    package static func descriptor(on identity: [UInt64]) -> Int32? {
        guard let directory = opendir("/dev/fd") else { return nil }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let descriptor = Int32(name), let status = try? status(of: descriptor) else { continue }
            if status.identity == identity { return descriptor }
        }
        return nil
    }

    /// Opens for reading, closed in children. Throws the `errno`.
    package static func openForReading(_ path: String) throws(Errno) -> Int32 {
        // Without O_NONBLOCK the opening of a named pipe would wait for a writer, before it can be refused.
        return Int32(try call(path) { Int(open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) })
    }

    /// Opens for reading, closed in children; waits for the writer of a named pipe. Throws the `errno`.
    package static func openWaitingForWriter(_ path: String) throws(Errno) -> Int32 {
        Int32(try call(path) { Int(open($0, O_RDONLY | O_CLOEXEC)) })
    }

    /// Makes an empty file that only its owner can use; fails where anything of that name exists. Throws the `errno`.
    package static func createPrivateFile(_ path: String) throws(Errno) {
        close(Int32(try call(path) { Int(open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)) }))
    }

    /// A file in memory that has no name; nil where the system has none.
    package static func anonymousFile() -> Int32? {
        let descriptor = csystem_anonymous_file()
        return descriptor < 0 ? nil : descriptor
    }

    /// Closes a descriptor; there is nothing to do about a failure.
    package static func close(_ descriptor: Int32) {
        _ = systemClose(descriptor)
    }

    /// What stands at `path`, links followed. Throws the `errno`.
    package static func status(of path: String) throws(Errno) -> FileStatus {
        var status = stat()
        _ = try call(path) { Int(stat($0, &status)) }
        return FileStatus(status)
    }

    /// What stands at `path`, also where that is a link. Throws the `errno`.
    package static func statusOfLink(_ path: String) throws(Errno) -> FileStatus {
        var status = stat()
        _ = try call(path) { Int(lstat($0, &status)) }
        return FileStatus(status)
    }

    /// What `descriptor` is open on. Throws the `errno`.
    package static func status(of descriptor: Int32) throws(Errno) -> FileStatus {
        var status = stat()
        _ = try retrying { Int(fstat(descriptor, &status)) }
        return FileStatus(status)
    }

    /// Whether `path` is a name of the file of `identity`, and no link to it.
    package static func has(name path: String, _ identity: [UInt64]) -> Bool {
        (try? statusOfLink(path).identity) == identity
    }

    /// The number of the user whose rights this process has.
    package static var user: UInt32 { geteuid() }

    /// Whether `path` is a link that ends in another directory, and not in one below its own. Throws the `errno`.
    package static func leadsElsewhere(_ path: String) throws(Errno) -> Bool {
        var status = stat()
        _ = try call(path) { Int(lstat($0, &status)) }
        guard status.st_mode & S_IFMT == S_IFLNK else { return false }
        let (target, own) = (try resolved(path), try resolved(FileCalls.directory(of: path)))
        return !target.utf8.starts(with: (own == "/" ? own : own + "/").utf8)
    }

    /// `path` without links. Throws the `errno`.
    package static func resolved(_ path: String) throws(Errno) -> String {
        var found: [UInt8] = []
        _ = try call(path) { path in
            guard let resolved = realpath(path, nil) else { return -1 }
            defer { free(resolved) }
            found = pathBytes(resolved)
            return 0
        }
        return String(pathBytes: found)
    }

    /// Removes the name `path`. Throws the `errno`.
    package static func remove(_ path: String) throws(Errno) {
        _ = try call(path) { Int(unlink($0)) }
    }

    /// Whether this process may read `path`, by the system's own rules.
    package static func mayRead(_ path: String) -> Bool {
        (try? call(path) { Int(access($0, R_OK)) }) == 0
    }

    /// Whether this process may write to `path`, by the system's own rules.
    package static func mayWrite(_ path: String) -> Bool {
        (try? call(path) { Int(access($0, W_OK)) }) == 0
    }

    /// Gives the bytes of an environment variable to `body`, in place; nil where it is not set.
    package static func withEnvironmentVariable<Result>(
        _ name: String,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        guard let value = getenv(name) else { return nil }
        return try body(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }

    /// Removes an environment variable.
    package static func forgetVariable(_ name: String) {
        csystem_forget_variable(name)
    }

    /// Keeps the memory of this process out of core dumps, and from other processes of its user.
    package static func forbidDumps() {
        csystem_forbid_dumps()
    }

    /// Whether something can be read, waiting so long for it; also from a terminal.
    package static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        csystem_is_readable(descriptor, milliseconds) != 0
    }

    /// The signals that neither end nor stop a process which does not handle them.
    package static var harmlessSignals: Set<Int32> {
        #if canImport(Darwin)
            [SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGIO, SIGINFO]
        #else
            [SIGCHLD, SIGCONT, SIGURG, SIGWINCH]
        #endif
    }

    /// Whether this process ignores the signal, as under `nohup`.
    package static func isIgnored(signal: Int32) -> Bool { csystem_ignores_signal(signal) != 0 }

    /// Nanoseconds since 1970.
    package static var wallClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Waits.
    package static func sleep(milliseconds: Int) {
        usleep(useconds_t(milliseconds * 1000))
    }

    /// How many processors are at work.
    package static var processorCount: Int {
        max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// A number for the thread that calls, unlike that of any other thread alive.
    package static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    /// A number of the calling thread's own, which goes up by ``countInThread()`` and which no other thread ever has.
    @inline(__always) package static var threadCount: UInt64 { csystem_thread_count() }

    /// Adds 1 to ``threadCount``.
    package static func countInThread() { csystem_count_in_thread() }

    /// Calls again as long as a signal interrupts. Throws the `errno` of a negative result.
    package static func retrying(_ call: () -> Int) throws(Errno) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw Errno(code: errno) }
        }
    }

    private static func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.read(descriptor, buffer, count)
        #elseif canImport(Glibc)
            Glibc.read(descriptor, buffer, count)
        #else
            Musl.read(descriptor, buffer, count)
        #endif
    }

    private static func systemClose(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.close(descriptor)
        #elseif canImport(Glibc)
            Glibc.close(descriptor)
        #else
            Musl.close(descriptor)
        #endif
    }
}

// Calls that the C library has under no name that Swift sees.
extension Platform {
    #if !canImport(Darwin)
        /// A second descriptor of the file, which cannot read or write: closing it drops no locks. Throws the `errno`.
        static func pin(_ descriptor: Int32) throws(Errno) -> Int32 {
            Int32(try retrying { Int(csystem_pin(descriptor)) })
        }
    #endif

    /// Gives each of two files the name of the other. -1 with `errno`.
    static func exchange(_ path: UnsafePointer<CChar>, _ other: UnsafePointer<CChar>) -> Int32 {
        csystem_exchange(path, other)
    }
}

/// What the system answered to a call that failed.
package struct Errno: Error, Equatable, CustomStringConvertible {
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// The system's own words, such as `No such file or directory`.
    package var description: String {
        self == .nul ? "the path has a NUL character" : String(cString: strerror(code))
    }

    /// No error of the system's: a path with a NUL character.
    package static var nul: Errno { Errno(code: -1) }

    package static var noSuchFile: Errno { Errno(code: ENOENT) }
    package static var notADirectory: Errno { Errno(code: ENOTDIR) }
    package static var nameTooLong: Errno { Errno(code: ENAMETOOLONG) }
    package static var noPermission: Errno { Errno(code: EACCES) }
    package static var notPermitted: Errno { Errno(code: EPERM) }
    package static var noSpace: Errno { Errno(code: ENOSPC) }
    package static var inputOutput: Errno { Errno(code: EIO) }
    package static var readOnlyFileSystem: Errno { Errno(code: EROFS) }
    package static var exists: Errno { Errno(code: EEXIST) }
    package static var busy: Errno { Errno(code: EBUSY) }
    /// Whether nothing has the name, be it that nothing can: SQLite adds up to eight bytes to that of a database.
    package var meansNoFile: Bool { [ENOENT, ENAMETOOLONG].contains(code) }
    /// Whether the file system has no second names for files.
    package var meansNoLinks: Bool { [EPERM, ENOTSUP, EMLINK, ENOSYS].contains(code) }
    /// Whether the file system cannot exchange two names.
    package var meansNoExchange: Bool { [EINVAL, ENOTSUP, ENOSYS].contains(code) }
}

/// The kind, rights and size of a file.
package struct FileStatus: Equatable {
    package enum Kind { case regular, directory, pipe, other }

    package let kind: Kind
    /// The nine permission bits.
    package let mode: Int
    /// In bytes.
    package let size: Int64
    /// Device and number: equal for two names of one file.
    package let identity: [UInt64]
    /// How many names it has.
    package let linkCount: Int
    /// The number of its owner.
    package let owner: UInt32
    /// When its content was changed last, in nanoseconds since 1970.
    package let modified: Int64

    fileprivate init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFIFO: kind = .pipe
        default: kind = .other
        }
        mode = Int(status.st_mode & 0o777)
        size = Int64(status.st_size)
        identity = [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
        linkCount = Int(status.st_nlink)
        owner = status.st_uid
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        modified = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
