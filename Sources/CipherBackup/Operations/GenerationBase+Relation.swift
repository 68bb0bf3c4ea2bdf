internal import CipherKeys
internal import SQLiteFormat

extension GenerationBase {
    /// Whether a state comes from the same database, as far as anybody can know: a rewritten page has no byte in common with the old one, but
    /// the salt stays, unless the key was changed by a new file.
    ///
    /// - Parameters:
    ///   - key: That of the state.
    ///   - others: The identifiers of keys that are those of this database alone.
    func isRelated(
        to writer: GenerationWriter,
        key: BackupKey?,
        others: Set<[UInt8]>,
        _ storage: any BackupStorage
    ) -> Bool {
        if writer.sharesBlock { return true }
        if let identifier = manifest.keyIdentifier, others.contains(identifier) { return true }
        let hasSalt = writer.head != FileKind.magic
        // Two databases may have one raw key, so that it says little.
        guard hasSalt else { return key != nil && manifest.keyIdentifier == key?.identifier }
        let count = Int(min(Int64(BlockTree.blockSize), manifest.databaseSize))
        guard let first = try? tree.blocks.node(0).first,
            let bytes = try? SegmentReader(storage, manifest, nodesOnly: false).bytes(first, count: count)
        else { return false }
        return bytes.starts(with: writer.head)
    }
}
