internal import CipherSystem

extension RollbackJournal {
    /// > page number, 4 bytes; original content of the page; checksum, 4 bytes
    package struct Record {
        package let number: UInt32
        package let page: [UInt8]
        /// Whether it is of the journal with the nonce that it was looked at for.
        package let hasItsChecksum: Bool

        package init(_ bytes: [UInt8], _ nonce: UInt32) {
            guard bytes.count > 8 else {
                (number, page, hasItsChecksum) = (0, [], false)
                return
            }
            number = UInt32(bytes.bigEndian(at: 0))
            page = Array(bytes[4..<(bytes.count - 4)])
            // > The nonce plus every 200th byte, counted from the end of the page, down to the first 200.
            var sum = nonce
            for place in stride(from: page.count - 200, to: 0, by: -200) { sum &+= UInt32(page[place]) }
            hasItsChecksum = Int(sum) == bytes.bigEndian(at: bytes.count - 4)
        }

        package func stands(in database: any PageSource) throws -> Bool {
            try database.read(page.count, at: Int64(number - 1) * Int64(page.count)) == page
        }
    }
}
