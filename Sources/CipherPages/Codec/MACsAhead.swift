internal import CipherKeys
internal import CipherSystem

/// Computes the MACs of the next pages side by side, where the engine reads pages in sequence. For one thread at a time.
///
/// It reads ahead from the file that the engine has open, and decides nothing: a MAC is taken only for the very bytes that it was
/// computed of. So what another process, a checkpoint or a change of key writes meanwhile costs work, and never a wrong answer.
final class MACsAhead {
    /// How many reads in sequence it takes to read ahead.
    private static let enough = 4
    /// How many pages may be between two reads of a sequence: pages of a B-tree's inner nodes are in the cache.
    private static let gap: UInt32 = 4
    /// How many reads are not looked at after a page was not the one in the file, such as a newer one in the WAL.
    private static let pauseLength = 64
    /// The most bytes that are read ahead.
    private static let mostBytes = 256 * 1024

    private let read: KeptContexts.Reader
    private let format: CipherFormat
    private let pageSize: Int
    /// The bytes of a page that its MAC covers.
    private let covered: Int
    private let mostPages: Int

    private var last: UInt32 = 0
    private var run = 0
    private var pause = 0
    /// The pages that were read ahead.
    private var pages: Range<UInt32> = 0..<0
    /// How many are read next time: more, the longer the sequence.
    private var pageCount = 8
    /// Allocated when the first sequence is read.
    private var bytes: UnsafeMutableRawBufferPointer?
    var macs: MultiBufferMAC?
    /// Whose key ``macs`` has.
    private weak var owner: KeptMAC?

    /// Nil where this machine computes no MACs side by side, or the format has others.
    init?(_ format: CipherFormat, reading read: @escaping KeptContexts.Reader) {
        guard MultiBufferMAC.isAvailable(for: format) else { return nil }
        self.format = format
        self.read = read
        pageSize = format.pageSize
        covered = format.macStart
        mostPages = max(1, min(MultiBufferMAC.lanes, MACsAhead.mostBytes / format.pageSize))
    }

    deinit {
        bytes?.deallocate()
    }

    /// The MAC of a page that the engine has read; nil where there is none.
    ///
    /// - Parameters:
    ///   - page: What the MAC covers.
    ///   - coded: Its number, as the MAC covers it.
    ///   - key: The HMAC key of `owner`.
    func mac(
        _ page: UnsafeRawBufferPointer,
        coded: UInt32,
        owner: KeptMAC,
        key: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        let number = format.pageNumberOrder.coded(coded)
        // Page 1 begins with the salt or a plaintext header, which its MAC does not cover: it is shorter.
        guard page.count == covered else { return nil }
        let isNext = number > last && number - last <= MACsAhead.gap
        run = isNext ? run + 1 : 0
        last = number
        guard pause == 0 else {
            pause -= 1
            return nil
        }
        if !pages.contains(number) || owner !== self.owner {
            if !isNext { pageCount = 8 }
            guard run >= MACsAhead.enough, fill(from: number, owner, key) else { return nil }
        }
        guard let bytes, let macs else { return nil }
        let index = Int(number - pages.lowerBound)
        let ahead = UnsafeRawBufferPointer(rebasing: bytes[(index * pageSize)...].prefix(covered))
        guard Platform.areEqual(ahead, page) else {
            stop()
            return nil
        }
        return macs.mac(index)
    }

    /// Reads pages and computes their MACs; false where that is not possible.
    private func fill(from number: UInt32, _ owner: KeptMAC, _ key: UnsafeRawBufferPointer) -> Bool {
        if owner !== self.owner || macs == nil {
            macs = MultiBufferMAC(hmacKey: key, format: format)
            self.owner = owner
        }
        guard let macs else {
            stop()
            return false
        }
        let buffer = bytes ?? .allocate(byteCount: mostPages * pageSize, alignment: 64)
        bytes = buffer
        // Page numbers end at the largest of 32 bits.
        let count = min(pageCount, mostPages, Int(UInt32.max - number))
        guard count > 0 else { return false }
        let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * pageSize)])
        guard read(wanted, Int64(number - 1) * Int64(pageSize)) else {
            stop()
            return false
        }
        let hasRun = macs.run(count) { index in
            (number + UInt32(index), UnsafeRawBufferPointer(rebasing: wanted[(index * pageSize)...].prefix(pageSize)))
        }
        guard hasRun else {
            stop()
            return false
        }
        pages = number..<(number + UInt32(count))
        pageCount = min(2 * pageCount, MultiBufferMAC.lanes)
        return true
    }

    private func stop() {
        pages = 0..<0
        run = 0
        pause = MACsAhead.pauseLength
        pageCount = 8
    }
}
