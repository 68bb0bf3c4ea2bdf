import CForking

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How a process comes to have a child.
enum Way: String, CaseIterable, Sendable {
    case fork, clone, daemon

    fileprivate var inC: cforking_way {
        switch self {
        case .fork: cforking_fork
        case .clone: cforking_clone
        case .daemon: cforking_daemon
        }
    }
}

/// Both sides of a fork.
struct Fork {
    private let way: Way
    /// 0 in the child.
    private let child: Int32
    /// Of a pipe: the parent reads what the child writes.
    private let end: Int32

    var isChild: Bool { child == 0 }

    init(_ way: Way) {
        self.way = way
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { fatalError("no pipe") }
        // What is in the buffers would be written twice.
        fflush(nil)
        child = cforking_child(way.inC)
        guard child >= 0 else { fatalError("no child") }
        end = child == 0 ? ends[1] : ends[0]
        close(child == 0 ? ends[0] : ends[1])
    }

    /// Tells the parent.
    func answer(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(end, $0.baseAddress, $0.count) }
    }

    /// Ends this process, the child. One by the system call alone has the locks that other threads of its parent's had, for which what runs at
    /// the end of a process may wait.
    func endProcess() -> Never { way == .clone ? _exit(0) : exit(0) }

    /// Ends the child.
    func stop() {
        _ = kill(child, SIGKILL)
    }

    /// What the child told, once it and all of its children have ended.
    func collect() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(end, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        close(end)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return String(decoding: bytes, as: UTF8.self) + (status == 0 ? "" : " (status \(status))")
    }
}
