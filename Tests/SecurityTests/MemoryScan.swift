import Foundation

/// Looks for secrets in this process's own memory.
enum MemoryScan {
    /// How often each of `needles`, which are masked, stands unmasked in the writable memory of this process.
    ///
    /// An allocator writes over the first bytes of what it gets back, so the search is for all but the first 16.
    static func count(_ needles: [[UInt8]], mask: UInt8) throws -> [Int] {
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
        let lines = String(decoding: try maps.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
        let memory = open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        var counts = needles.map { _ in 0 }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        for line in lines {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields[1].hasPrefix("rw"), !line.hasSuffix("[vvar]") else { continue }
            let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            var position = bounds[0]
            while position < bounds[1] {
                let wanted = Int(min(UInt64(buffer.count), bounds[1] - position))
                let count = pread(memory, &buffer, wanted, off_t(position))
                guard count > 0 else { break }
                // What stands across the end of this part is found in the next.
                let next = position + UInt64(count) < bounds[1] && count > 128 ? count - 128 : count
                for (index, needle) in needles.enumerated() {
                    counts[index] += occurrences(
                        of: needle.dropFirst(needle.count > 24 ? 16 : 8),
                        mask,
                        in: buffer,
                        count,
                        before: next
                    )
                }
                position += UInt64(next)
            }
        }
        // The last chunk stays in the buffer: what it held must not be found by the next scan.
        for index in buffer.indices { buffer[index] = 0 }
        return counts
    }

    private static func occurrences(
        of needle: ArraySlice<UInt8>,
        _ mask: UInt8,
        in buffer: [UInt8],
        _ count: Int,
        before end: Int
    )
        -> Int
    {
        let needle = Array(needle)
        guard count >= needle.count else { return 0 }
        return buffer.withUnsafeBufferPointer { buffer in
            var (found, start) = (0, 0)
            let last = min(end, count - needle.count + 1)
            // By memchr from one possible first byte to the next: a loop over all would take seconds.
            while start < last, let base = buffer.baseAddress,
                let place = memchr(base + start, Int32(needle[0] ^ mask), last - start)
            {
                start = UnsafeRawPointer(base).distance(to: place)
                var length = 1
                while length < needle.count, buffer[start + length] == needle[length] ^ mask { length += 1 }
                if length == needle.count { found += 1 }
                start += 1
            }
            return found
        }
    }
}
