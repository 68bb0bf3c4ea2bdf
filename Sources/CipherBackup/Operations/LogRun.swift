internal import CipherKeys
internal import CipherPages
internal import SQLiteFormat

/// Stores the pages that were committed to a WAL since the generation before.
struct LogRun {
    let log: any PageSource
    let changes: LogChanges
    let key: PageKey?

    /// Pages that are smaller than a block, or commits that do not say all: then the database has to be read whole.
    static func isPossible(_ changes: LogChanges, _ base: GenerationBase) -> Bool {
        changes.position.pageSize % BlockTree.blockSize == 0 && base.compaction.replaced.isEmpty
    }

    func run(_ writer: GenerationWriter) throws {
        let size = changes.position.pageSize
        let hash = try OpenSSL.SHA256()
        let cipher = try key.map { try PageCipher(key: $0.key, format: $0.format) }
        var damaged: [Int] = []
        for (number, offset) in changes.offsets.sorted(by: { $0.key < $1.key })
        where Int(number) <= changes.pageCount ?? 0 {
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
