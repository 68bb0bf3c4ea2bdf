internal import CCipherSystem

// Calls that the C library has under no name that Swift sees.
extension Platform {
    #if !canImport(Darwin)
        /// A second descriptor of the file, by which nothing can be read or written: closing it drops no locks. Throws the `errno`.
        static func pin(_ descriptor: Int32) throws(Errno) -> Int32 {
            Int32(try retrying { Int(csystem_pin(descriptor)) })
        }
    #endif

    /// Gives each of two files the name of the other. -1 with `errno`.
    static func exchange(_ path: UnsafePointer<CChar>, _ other: UnsafePointer<CChar>) -> Int32 {
        csystem_exchange(path, other)
    }
}
