package import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// The key of a database that is backed up, in its format.
package typealias PageKey = (key: DerivedKey, format: CipherFormat)

/// Pages that are not what was written, or missing: nothing of such a state is stored.
package struct DamagedPages: Error {
    package let numbers: [Int]
}

extension DamagedPages: CustomStringConvertible {
    package var description: String {
        NumberRanges(numbers).text(of: "page") + (numbers.count == 1 ? " has a wrong MAC" : " have wrong MACs")
    }
}

/// Reads a state of a database whole, and stores what differs from the generation before.
struct BackupRun {
    let source: any PageSource
    /// Bytes that must be read together.
    let unit: Int
    let key: PageKey?

    /// - Parameter progress: Called about every mebibyte with the bytes done and all.
    func run(
        _ writer: GenerationWriter,
        isProved: Bool,
        progress: (Int64, Int64) throws -> Void
    ) throws {
        let pageSize = key?.format.pageSize ?? BlockTree.blockSize
        let step = max(BlockTree.blockSize, unit, pageSize)
        let damaged = Lock<[Int]>([])
        let base = writer.base
        // Safe because the writer is used under the lock alone, and only while `run` waits.
        nonisolated(unsafe) let writer = writer
        try PagePipeline(source, pageSize: step).run {
            try progress(Int64($0) * Int64(step), Int64($1) * Int64(step))
        } makeWorker: { [key] in
            let hash = try Cryptography.SHA256()
            let authenticator = try key.map { try PageAuthenticator(key: $0.key, format: $0.format) }
            var old = base.map { ReferenceCursor($0.tree.blocks) }
            return { batch in
                let blocks = try batch.blocks(hash)
                if let authenticator, try !isProved || blocks.contains(where: { try old?.reference(to: $0) == nil }) {
                    let found = try authenticator.damaged(in: batch.pages(of: pageSize))
                    guard found.isEmpty else { return damaged.withLock { $0 += found.map(Int.init) } }
                }
                try damaged.withLock { _ in
                    for block in blocks { try writer.store(block) }
                }
            }
        }
        let numbers = damaged.withLock { $0.sorted() }
        guard numbers.isEmpty else { throw DamagedPages(numbers: numbers) }
    }
}

/// Stores the pages that were committed to a WAL since the generation before.
struct LogRun {
    let log: any PageSource
    let changes: LogChanges
    let key: PageKey?

    /// Pages that are smaller than a block, or commits that do not say all: then the database has to be read whole.
    static func isPossible(_ changes: LogChanges, _ base: GenerationBase) -> Bool {
        changes.pageSize % BlockTree.blockSize == 0 && base.compaction.replaced.isEmpty
    }

    func run(_ writer: GenerationWriter) throws {
        let size = changes.pageSize
        let hash = try Cryptography.SHA256()
        let cipher = try key.map { try PageCipher(key: $0.key, format: $0.format) }
        var damaged: [Int] = []
        for (number, offset) in changes.offsets.sorted(by: { $0.key < $1.key })
        where Int(number) <= changes.pageCount {
            let page = try log.read(size, at: offset)
            try page.withUnsafeBytes { page in
                if let cipher, try cipher.isAuthentic(page, number: number) == false { damaged.append(Int(number)) }
                let first = (Int(number) - 1) * (size / BlockTree.blockSize)
                for block in try StateBlock.blocks(of: page, first: first, hash) { try writer.store(block) }
            }
        }
        guard damaged.isEmpty else { throw DamagedPages(numbers: damaged) }
    }
}

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
    static func blocks(of bytes: UnsafeRawBufferPointer, first: Int, _ hash: Cryptography.SHA256) throws -> [StateBlock]
    {
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
    func blocks(_ hash: Cryptography.SHA256) throws -> [StateBlock] {
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
