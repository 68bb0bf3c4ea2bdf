internal import CCipherSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Keys that the Linux kernel keeps for a process, session or user (keyrings(7)).
enum KernelKeyring {
    /// The key of type `user` with this description, from the first of the process's keyrings that has it.
    static func read(_ description: String) throws -> SecretBytes {
        let name = "kernel key \(description)"
        #if os(Linux)
            let key = csystem_request_key("user", description)
            guard key >= 0 else { throw KeySourceError(.system, path: name, errno: errno) }
            let size = csystem_read_key(key, nil, 0)
            guard size >= 0 else { throw KeySourceError(.system, path: name, errno: errno) }
            return try SecretBytes(count: size) { buffer in
                guard csystem_read_key(key, buffer.baseAddress, buffer.count) == buffer.count else {
                    throw KeySourceError(.missing, path: name)
                }
            }
        #else
            throw KeySourceError(.notHere, path: name)
        #endif
    }

    #if os(Linux)
        /// Gives the process a key of its own, which ends with it; false where the system refuses.
        static func add(_ description: String, _ bytes: [UInt8]) -> Bool {
            csystem_add_key("user", description, bytes, bytes.count) >= 0
        }
    #endif
}
