internal import CCipherLanes
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

/// Computes the HMAC-SHA512 of several pages at once, by libipsec-mb, where the machine has it.
///
/// SHA-512 goes through a page step by step, in one lane of the processor's vectors; several pages fill all lanes.
final class MultiBufferMAC {
    /// How many pages at once.
    static let lanes = clanes_most_messages
    static var isAvailable: Bool { clanes_memory_size() > 0 }

    /// The bytes of a page that its MAC covers, with the page's number.
    private let messageSize: Int
    private let stride: Int
    private let order: PageNumberOrder
    /// Begins with what is worth as much as the key: 64 bytes, and 64 more.
    let memory: UnsafeMutableRawBufferPointer
    private let messages: UnsafeMutableRawBufferPointer
    private let macs: UnsafeMutableRawBufferPointer

    /// Nil where this machine cannot do it, or the format has no such MACs.
    convenience init?(key: DerivedKey, format: CipherFormat) throws {
        guard MultiBufferMAC.isAvailable(for: format) else { return nil }
        let hmacKey = try KeyDerivation.pageAuthenticationKey(for: key, format: format)
        try self.init(format) { memory in try hmacKey.withUnsafeBytes { MultiBufferMAC.begin(memory, $0) } }
    }

    /// As by a derived key.
    convenience init?(hmacKey: UnsafeRawBufferPointer, format: CipherFormat) {
        guard MultiBufferMAC.isAvailable(for: format) else { return nil }
        self.init(format) { MultiBufferMAC.begin($0, hmacKey) }
    }

    static func isAvailable(for format: CipherFormat) -> Bool { format.pageAuthentication == .sha512 && isAvailable }

    private init?(_ format: CipherFormat, begin: (UnsafeMutableRawBufferPointer) throws -> Bool) rethrows {
        messageSize = format.macStart + 4
        // A cache line more, so that the same place of all lanes is not in one set of the cache.
        stride = format.pageSize + 64
        order = format.pageNumberOrder
        memory = .allocate(byteCount: clanes_memory_size(), alignment: 64)
        messages = .allocate(byteCount: stride * MultiBufferMAC.lanes, alignment: 64)
        macs = .allocate(byteCount: clanes_code_size * MultiBufferMAC.lanes, alignment: 64)
        guard try begin(memory) else { return nil }
    }

    private static func begin(_ memory: UnsafeMutableRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bool {
        let block = clanes_block_size
        return withUnsafeTemporaryAllocation(byteCount: 2 * block, alignment: 8) { blocks in
            defer { Cryptography.cleanse(blocks) }
            // > (2) XOR the B byte string computed in step (1) with ipad [0x36]; (5) … with opad [0x5C]
            for (index, pad) in [UInt8(0x36), 0x5c].enumerated() {
                for byte in 0..<block { blocks[index * block + byte] = pad ^ (byte < key.count ? key[byte] : 0) }
            }
            let bytes = blocks.assumingMemoryBound(to: UInt8.self).baseAddress!
            return clanes_begin(memory.baseAddress!, bytes, bytes + block)
        }
    }

    deinit {
        Cryptography.cleanse(memory)
        memory.deallocate()
        messages.deallocate()
        macs.deallocate()
    }

    /// Puts a page, as it is in the file and not the first, into a lane.
    func load(_ page: UnsafeRawBufferPointer, number: UInt32, lane: Int) {
        let message = messages.baseAddress! + lane * stride
        message.copyMemory(from: page.baseAddress!, byteCount: messageSize - 4)
        message.storeBytes(of: order.coded(number), toByteOffset: messageSize - 4, as: UInt32.self)
    }

    /// Computes the MACs of the first `count` lanes; false where the library refuses.
    func run(_ count: Int) -> Bool {
        clanes_run(
            memory.baseAddress!,
            messages.assumingMemoryBound(to: UInt8.self).baseAddress!,
            stride,
            messageSize,
            UInt32(count),
            macs.assumingMemoryBound(to: UInt8.self).baseAddress!
        )
    }

    /// The MAC of a lane, after ``run(_:)``.
    func mac(_ lane: Int) -> UnsafeRawBufferPointer {
        let size = clanes_code_size
        return UnsafeRawBufferPointer(rebasing: macs[(lane * size)..<((lane + 1) * size)])
    }
}
