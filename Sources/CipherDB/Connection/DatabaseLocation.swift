/// Where a database is, and how it is opened there.
struct DatabaseLocation {
    /// As it was given: a path, or with ``OpenFlags/uri`` a URI.
    let path: String
    /// The file's path; nil for a database in memory.
    let file: String?
    let flags: OpenFlags
    let isImmutable: Bool

    init(_ path: String, _ flags: OpenFlags) throws {
        self.path = path
        guard flags.contains(.uri) else {
            (file, self.flags, isImmutable) = (path, flags, false)
            return
        }
        let uri = try DatabaseURI(path)
        file = uri.path
        self.flags = try uri.flags(flags)
        isImmutable = uri.parameters["immutable"] == "1"
    }
}
