internal import CipherKeys

/// Reads and writes the pages of one database, a batch at a time. For one thread at a time.
protocol PageCodec: AnyObject {
    /// Writes the plaintext of up to ``PageBuffer/capacity`` pages.
    ///
    /// - Throws: ``UnauthenticPage`` for a page whose MAC is wrong, or that is not whole.
    func open(_ batch: PagePipeline.Batch, into plaintext: PageBuffer) throws

    /// Writes the pages that the file gets for the first `count` pages of `plaintext`, which it overwrites.
    ///
    /// - Parameter first: The number of the first page, from 1.
    func seal(_ plaintext: PageBuffer, first: UInt32, count: Int, into pages: UnsafeMutableRawBufferPointer) throws
}

/// A page whose MAC is wrong, or that is not whole.
package struct UnauthenticPage: Error, Equatable {
    /// From 1.
    package let number: Int
}
