import Foundation

/// Descriptors 0, 1 and 2 as the command needs them, before anything is opened.
enum StandardStreams {
    /// Sees that no file of ours gets the number of a standard stream that is closed, where messages would be written into it; and
    /// that a reader who is gone is an error of writing and not the end of the process.
    static func prepare() {
        for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free. For reading only: what is written there fails, as it would have.
            _ = open("/dev/null", O_RDONLY)
        }
        signal(SIGPIPE, SIG_IGN)
    }
}
