internal import CCipherLanes
package import CipherKeys
internal import CipherSystem
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
            loaded.append((number, page))
            if loaded.count == MultiBufferMAC.lanes { try authenticateLoaded(macs, &damaged) }
        }
        if let macs { try authenticateLoaded(macs, &damaged) }
        return damaged.sorted()
    }

    private func authenticateLoaded(_ macs: MultiBufferMAC, _ damaged: inout [UInt32]) throws {
        defer { loaded.removeAll(keepingCapacity: true) }
        let hasRun = loaded.isEmpty || macs.run(loaded.count) { loaded[$0] }
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
    /// How the two hashes of the key begin, which is worth as much as the key.
    let key: UnsafeMutableRawBufferPointer
    private let macs: UnsafeMutableRawBufferPointer

    /// Nil where this machine cannot do it, or the format has no such MACs.
    convenience init?(key: DerivedKey, format: CipherFormat) throws {
        guard MultiBufferMAC.isAvailable(for: format) else { return nil }
        let hmacKey = try KeyDerivation.pageAuthenticationKey(for: key, format: format)
        try self.init(format) { beginning in try hmacKey.withUnsafeBytes { MultiBufferMAC.begin($0, beginning) } }
    }

    /// As by a derived key.
    convenience init?(hmacKey: UnsafeRawBufferPointer, format: CipherFormat) {
        guard MultiBufferMAC.isAvailable(for: format) else { return nil }
        self.init(format) { MultiBufferMAC.begin(hmacKey, $0) }
    }

    static func isAvailable(for format: CipherFormat) -> Bool { format.pageAuthentication == .sha512 && isAvailable }

    private init?(_ format: CipherFormat, begin: (UnsafeMutableRawBufferPointer) throws -> Bool) rethrows {
        messageSize = format.macStart + 4
        // A cache line more, so that the same place of all lanes is not in one set of the cache.
        stride = format.pageSize + Lanes.gap
        order = format.pageNumberOrder
        key = .allocate(byteCount: 2 * clanes_code_size, alignment: 64)
        macs = .allocate(byteCount: clanes_code_size * MultiBufferMAC.lanes, alignment: 64)
        guard try begin(key) else { return nil }
    }

    private static func begin(_ key: UnsafeRawBufferPointer, _ beginning: UnsafeMutableRawBufferPointer) -> Bool {
        let block = clanes_block_size
        return withUnsafeTemporaryAllocation(byteCount: 2 * block, alignment: 8) { blocks in
            defer { Cryptography.cleanse(blocks) }
            // > (2) XOR the B byte string computed in step (1) with ipad [0x36]; (5) … with opad [0x5C]
            for (index, pad) in [UInt8(0x36), 0x5c].enumerated() {
                for byte in 0..<block { blocks[index * block + byte] = pad ^ (byte < key.count ? key[byte] : 0) }
            }
            let bytes = blocks.assumingMemoryBound(to: UInt8.self).baseAddress!
            return Lanes.withOne { lanes in
                clanes_key(
                    lanes.memory.baseAddress!,
                    bytes,
                    bytes + block,
                    beginning.assumingMemoryBound(to: UInt8.self).baseAddress!
                )
            } != nil
        }
    }

    deinit {
        Cryptography.cleanse(key)
        key.deallocate()
        macs.deallocate()
        Lanes.forget()
    }

    /// Computes the MACs of `count` pages, as they are in the file, none of them the first; false where the library refuses.
    func run(_ count: Int, _ page: (_ lane: Int) -> (number: UInt32, page: UnsafeRawBufferPointer)) -> Bool {
        guard count <= MultiBufferMAC.lanes else { return false }
        return Lanes.withOne { lanes in
            for lane in 0..<count {
                let (number, page) = page(lane)
                let message = lanes.messages.baseAddress! + lane * stride
                message.copyMemory(from: page.baseAddress!, byteCount: messageSize - 4)
                message.storeBytes(of: order.coded(number), toByteOffset: messageSize - 4, as: UInt32.self)
            }
            return clanes_run(
                lanes.memory.baseAddress!,
                key.assumingMemoryBound(to: UInt8.self).baseAddress!,
                lanes.messages.assumingMemoryBound(to: UInt8.self).baseAddress!,
                stride,
                messageSize,
                UInt32(count),
                macs.assumingMemoryBound(to: UInt8.self).baseAddress!
            )
        } ?? false
    }

    /// The MAC of a lane, after ``run(_:_:)``.
    func mac(_ lane: Int) -> UnsafeRawBufferPointer {
        let size = clanes_code_size
        return UnsafeRawBufferPointer(rebasing: macs[(lane * size)..<((lane + 1) * size)])
    }
}

/// The library's memory and the messages for it, half a mebibyte in use: connections share it, and each has it for one run.
///
/// Sendable because ``withOne(_:)`` takes it out of ``shared`` for one thread.
private final class Lanes: @unchecked Sendable {
    static let gap = 64
    let memory: UnsafeMutableRawBufferPointer
    let messages: UnsafeMutableRawBufferPointer

    private init?() {
        memory = .allocate(byteCount: clanes_memory_size(), alignment: 64)
        // The system gives only what is used of it.
        messages = .allocate(byteCount: (65_536 + Lanes.gap) * MultiBufferMAC.lanes, alignment: 64)
        guard clanes_begin(memory.baseAddress!) else { return nil }
    }

    deinit {
        Cryptography.cleanse(memory)
        memory.deallocate()
        messages.deallocate()
    }

    private struct Shared {
        var idle: [Lanes] = []
        var forgotten = 0
    }

    private static let shared = Lock(Shared())
    /// A thread that a forked child has not may have the lock.
    private static let owner = OwnerProcess()

    /// Nil where the library refuses.
    static func withOne<Result>(_ body: (Lanes) -> Result) -> Result? {
        guard owner.isCurrent else { return Lanes().map(body) }
        let (idle, forgotten) = shared.withLock { ($0.idle.popLast(), $0.forgotten) }
        guard let lanes = idle ?? Lanes() else { return nil }
        defer {
            shared.withLock { shared in
                if shared.forgotten == forgotten { shared.idle.append(lanes) }
            }
        }
        return body(lanes)
    }

    /// Wipes what may have something left of a key that is not used any more.
    static func forget() {
        guard owner.isCurrent else { return }
        let idle = shared.withLock { shared in
            shared.forgotten += 1
            defer { shared.idle = [] }
            return shared.idle
        }
        withExtendedLifetime(idle) {}
    }
}
