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
        // It holds because the writer is used under the lock alone, and only while `run` waits.
        nonisolated(unsafe) let writer = writer
        try PagePipeline(source, pageSize: step).run {
            try progress(Int64($0) * Int64(step), Int64($1) * Int64(step))
        } makeWorker: { [key] in
            let hash = try OpenSSL.SHA256()
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
