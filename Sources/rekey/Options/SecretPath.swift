import CipherDB

/// The path of a file with a secret as it was typed: `-` and the names of open descriptors stand for those.
enum SecretPath {
    /// - Parameter unsafePermissions: Whether a file may be read that other users can read.
    static func source(_ path: String, unsafePermissions: Bool) -> KeySource {
        // What is open already was opened by the caller, with permissions of its own.
        if let descriptor = descriptor(path) { return .descriptor(descriptor) }
        return unsafePermissions ? .unsafeFile(path: path) : .file(path: path)
    }

    private static func descriptor(_ path: String) -> Int32? {
        if ["-", "/dev/stdin"].contains(path) { return 0 }
        for directory in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(directory) {
            return Int32(path.dropFirst(directory.count))
        }
        return nil
    }
}
