internal import CipherKeys

/// Finds the pages of a batch that are not what was written. For one thread at a time.
///
/// Several pages are looked at side by side where the machine can. That only ever accepts a page: what it does not, OpenSSL
/// looks at again and decides.
final class BatchAuthentication {
    let cipher: PageCipher
    private let lanes: LaneAuthentication?
    private var waiting: [(number: UInt32, page: UnsafeRawBufferPointer)] = []

    convenience init(key: DerivedKey, format: CipherFormat) throws {
        self.init(
            cipher: try PageCipher(key: key, format: format),
            lanes: try LaneAuthentication(key: key, format: format)
        )
    }

    init(cipher: PageCipher, lanes: LaneAuthentication?) {
        self.cipher = cipher
        self.lanes = lanes
    }

    /// The numbers, ascending. In a format without authentication nothing can be found.
    func damaged(in batch: PagePipeline.Batch) throws -> [UInt32] {
        var damaged: [UInt32] = []
        try batch.forEach { page, number in
            if cipher.format.isLockPage(number) { return }
            // The first page begins with the salt, so what its code is made of is shorter.
            guard let lanes, number > 1, page.count == cipher.format.pageSize else {
                return try decide(page, number, &damaged)
            }
            lanes.load(page, number: number, lane: waiting.count)
            waiting.append((number, page))
            if waiting.count == LaneAuthentication.lanes { try settle(lanes, &damaged) }
        }
        if let lanes { try settle(lanes, &damaged) }
        return damaged.sorted()
    }

    private func settle(_ lanes: LaneAuthentication, _ damaged: inout [UInt32]) throws {
        defer { waiting.removeAll(keepingCapacity: true) }
        let hasRun = waiting.isEmpty || lanes.run(waiting.count)
        for (lane, (number, page)) in waiting.enumerated() {
            if hasRun, cipher.isCode(lanes.code(lane), of: page) { continue }
            try decide(page, number, &damaged)
        }
    }

    private func decide(_ page: UnsafeRawBufferPointer, _ number: UInt32, _ damaged: inout [UInt32]) throws {
        if try cipher.isAuthentic(page, number: number) == false { damaged.append(number) }
    }
}
