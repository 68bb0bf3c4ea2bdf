/// scrypt (RFC 7914), for a library that has PBKDF2 and not scrypt.
enum Scrypt {
    /// PBKDF2 with HMAC-SHA-256 and one iteration: of a password and a salt, into the buffer.
    typealias PBKDF2 = (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws -> Void

    /// Derives `output`, as section 6 of the RFC has it.
    ///
    /// - Parameter cost: N, a power of two.
    /// - Throws: what `pbkdf2` throws; ``SecretMemoryError`` for more than 64 MiB.
    static func derive(
        password: UnsafeRawBufferPointer,
        salt: [UInt8],
        cost: Int,
        blockSize: Int,
        parallelism: Int,
        output: UnsafeMutableRawBufferPointer,
        pbkdf2: PBKDF2
    ) throws {
        let words = 32 * blockSize
        // Both are wiped: what is in them tells the key.
        _ = try SecretBytes(count: 4 * words * cost) { table in
            _ = try SecretBytes(count: 4 * words * (parallelism + 2)) { memory in
                let blocks = UnsafeMutableRawBufferPointer(rebasing: memory[..<(4 * words * parallelism)])
                let start = memory.baseAddress!.assumingMemoryBound(to: UInt32.self)
                let scratch = start + words * parallelism
                try salt.withUnsafeBytes { try pbkdf2(password, $0, blocks) }
                for index in 0..<words * parallelism { start[index] = UInt32(littleEndian: start[index]) }
                for lane in 0..<parallelism {
                    let table = table.baseAddress!.assumingMemoryBound(to: UInt32.self)
                    mix(start + lane * words, words, cost, table, scratch)
                }
                for index in 0..<words * parallelism { start[index] = start[index].littleEndian }
                try pbkdf2(password, UnsafeRawBufferPointer(blocks), output)
            }
        }
    }

    /// Section 5, scryptROMix: of `block`, in place.
    private static func mix(
        _ block: UnsafeMutablePointer<UInt32>,
        _ words: Int,
        _ cost: Int,
        _ table: UnsafeMutablePointer<UInt32>,
        _ scratch: UnsafeMutablePointer<UInt32>
    ) {
        var (current, next) = (scratch, scratch + words)
        current.update(from: block, count: words)
        for step in 0..<cost {
            (table + step * words).update(from: current, count: words)
            mixBlocks(current, into: next, words)
            swap(&current, &next)
        }
        for _ in 0..<cost {
            // > Integerify … the last 64-byte block … as a little-endian integer
            let entry = table + Int(current[words - 16] & UInt32(cost - 1)) * words
            for index in 0..<words { current[index] ^= entry[index] }
            mixBlocks(current, into: next, words)
            swap(&current, &next)
        }
        block.update(from: current, count: words)
    }

    /// Section 4, scryptBlockMix.
    private static func mixBlocks(
        _ input: UnsafeMutablePointer<UInt32>,
        into output: UnsafeMutablePointer<UInt32>,
        _ words: Int
    ) {
        let count = words / 16
        var previous = input + (words - 16)
        for index in 0..<count {
            // > B' = (Y[0], Y[2], …, Y[2r - 2], Y[1], Y[3], …, Y[2r - 1])
            let place = output + (index / 2 + (index % 2) * (count / 2)) * 16
            let block = input + index * 16
            for word in 0..<16 { place[word] = previous[word] ^ block[word] }
            salsa(place)
            previous = place
        }
    }

    /// Section 3, Salsa20/8: of 16 words, in place.
    private static func salsa(_ words: UnsafeMutablePointer<UInt32>) {
        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        var (i, j, k, l) = (words[8], words[9], words[10], words[11])
        var (m, n, o, p) = (words[12], words[13], words[14], words[15])
        for _ in 0..<4 {
            quarter(&a, &e, &i, &m)
            quarter(&f, &j, &n, &b)
            quarter(&k, &o, &c, &g)
            quarter(&p, &d, &h, &l)
            quarter(&a, &b, &c, &d)
            quarter(&f, &g, &h, &e)
            quarter(&k, &l, &i, &j)
            quarter(&p, &m, &n, &o)
        }
        words[0] &+= a
        words[1] &+= b
        words[2] &+= c
        words[3] &+= d
        words[4] &+= e
        words[5] &+= f
        words[6] &+= g
        words[7] &+= h
        words[8] &+= i
        words[9] &+= j
        words[10] &+= k
        words[11] &+= l
        words[12] &+= m
        words[13] &+= n
        words[14] &+= o
        words[15] &+= p
    }

    @inline(__always)
    private static func quarter(_ a: inout UInt32, _ b: inout UInt32, _ c: inout UInt32, _ d: inout UInt32) {
        b ^= rotated(a &+ d, 7)
        c ^= rotated(b &+ a, 9)
        d ^= rotated(c &+ b, 13)
        a ^= rotated(d &+ c, 18)
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &<< count | word &>> (32 &- count)
    }
}

/// HKDF (RFC 5869), for a library that has HMAC and not HKDF.
enum HKDF {
    /// - Parameter hmac: The HMAC of a message under a key.
    static func derive(
        _ algorithm: HashAlgorithm,
        key: UnsafeRawBufferPointer,
        salt: [UInt8],
        info: [UInt8],
        output: UnsafeMutableRawBufferPointer,
        hmac: (_ key: UnsafeRawBufferPointer, _ message: UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws
            -> Void
    ) throws {
        let size = algorithm.digestSize
        // > if not provided, it is set to a string of HashLen zeros
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: size) : salt
        // The key of the second step, and T(i - 1) | info | i.
        _ = try SecretBytes(count: 2 * size + info.count + 1) { memory in
            let first = UnsafeMutableRawBufferPointer(rebasing: memory[..<size])
            try salt.withUnsafeBytes { try hmac($0, key, first) }
            let message = UnsafeMutableRawBufferPointer(rebasing: memory[size...])
            UnsafeMutableRawBufferPointer(rebasing: message[size...]).copyBytes(from: info)
            var done = 0
            for number in 1...255 where done < output.count {
                message[message.count - 1] = UInt8(number)
                let begin = number == 1 ? size : 0
                let part = UnsafeRawBufferPointer(rebasing: message[begin...])
                let block = UnsafeMutableRawBufferPointer(rebasing: message[..<size])
                try hmac(UnsafeRawBufferPointer(first), part, block)
                let count = min(size, output.count - done)
                UnsafeMutableRawBufferPointer(rebasing: output[done...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: block[..<count])
                )
                done += count
            }
        }
    }
}
