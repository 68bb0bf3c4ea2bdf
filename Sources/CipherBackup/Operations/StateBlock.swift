internal import CipherKeys
internal import CipherPages

/// A block of the state that is being stored.
struct StateBlock {
    /// From 0.
    let index: Int
    let bytes: UnsafeRawBufferPointer
    let digest: Digest
    /// Whether all bytes are zero: the page that has SQLite's locks, or what a file system fills up.
    let isZero: Bool
}

extension StateBlock {
    /// The blocks that `bytes` are.
    ///
    /// - Parameter first: The index of the first one.
    static func blocks(of bytes: UnsafeRawBufferPointer, first: Int, _ hash: OpenSSL.SHA256) throws -> [StateBlock] {
        try stride(from: 0, to: bytes.count, by: BlockTree.blockSize).map { start in
            let block = UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(BlockTree.blockSize))
            return StateBlock(
                index: first + start / BlockTree.blockSize,
                bytes: block,
                digest: try hash.digest(of: block),
                isZero: block.allSatisfy { $0 == 0 }
            )
        }
    }
}

extension PagePipeline.Batch {
    /// The blocks of the batch, which begins with one.
    func blocks(_ hash: OpenSSL.SHA256) throws -> [StateBlock] {
        try StateBlock.blocks(of: bytes, first: (Int(first) - 1) * (pageSize / BlockTree.blockSize), hash)
    }
}

extension ReferenceCursor {
    /// The reference at the place of a block, where it is to the same bytes.
    mutating func reference(to block: StateBlock) throws -> BlockReference? {
        guard let reference = try reference(block.index) else { return nil }
        return (block.isZero ? reference == .zeros : reference.digest == block.digest) ? reference : nil
    }
}
