internal import CipherSystem

/// What to say of the name of a repository.
enum RepositoryNote {
    /// The line for a name that looks like a remote of rclone and becomes a directory; nil for others.
    static func line(_ location: String) -> String? {
        let remote = location.prefix { $0 != ":" }
        guard remote.count < location.count, remote.count > 1, !remote.contains("/"), remote.lowercased() != "rclone",
            (try? Platform.status(of: location)) == nil
        else { return nil }
        return "rekey: \(location): this is a directory of this machine; a remote of rclone is rclone:\(location)"
    }
}
