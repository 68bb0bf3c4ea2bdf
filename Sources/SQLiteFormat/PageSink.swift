/// Where pages are written to, from several threads at once, each at a place of its own.
package protocol PageSink: Sendable {
    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws
}
