package import CipherKeys
internal import SQLiteFormat

/// Finds the damaged pages of a batch. For one thread at a time.
///
/// Several MACs are computed at once. ``MultiBufferMAC`` only ever accepts a page: OpenSSL decides about the others.
package final class PageAuthenticator {
    private let cipher: PageCipher
    private let macs: MultiBufferMAC?
    /// The pages in `macs`.
    private var loaded: [(number: UInt32, page: UnsafeRawBufferPointer)] = []

    /// - Parameter macs: Nil for OpenSSL alone.
    init(_ cipher: PageCipher, _ macs: MultiBufferMAC?) {
        self.cipher = cipher
        self.macs = macs
    }

    package convenience init(key: DerivedKey, format: CipherFormat) throws {
        self.init(try PageCipher(key: key, format: format), try MultiBufferMAC(key: key, format: format))
    }

    /// The numbers of the pages whose MAC is wrong, ascending; none in a format without MACs.
    package func damaged(in batch: PagePipeline.Batch) throws -> [UInt32] {
        var damaged: [UInt32] = []
        try batch.forEach { page, number in
            if LockBytePage.isPage(number, ofSize: cipher.format.pageSize) { return }
            // Page 1 begins with the salt, which its MAC does not cover: it is shorter than the others.
            guard let macs, number > 1, page.count == cipher.format.pageSize else {
                return try decide(page, number, &damaged)
            }
            macs.load(page, number: number, lane: loaded.count)
            loaded.append((number, page))
            if loaded.count == MultiBufferMAC.lanes { try authenticateLoaded(macs, &damaged) }
        }
        if let macs { try authenticateLoaded(macs, &damaged) }
        return damaged.sorted()
    }

    private func authenticateLoaded(_ macs: MultiBufferMAC, _ damaged: inout [UInt32]) throws {
        defer { loaded.removeAll(keepingCapacity: true) }
        let hasRun = loaded.isEmpty || macs.run(loaded.count)
        for (lane, (number, page)) in loaded.enumerated() {
            if hasRun, cipher.mac?.matches(macs.mac(lane), page) == true { continue }
            try decide(page, number, &damaged)
        }
    }

    private func decide(_ page: UnsafeRawBufferPointer, _ number: UInt32, _ damaged: inout [UInt32]) throws {
        if try cipher.isAuthentic(page, number: number) == false { damaged.append(number) }
    }
}
