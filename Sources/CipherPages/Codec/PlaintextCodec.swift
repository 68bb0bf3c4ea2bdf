internal import SQLiteFormat

/// The pages of a database that is not encrypted.
final class PlaintextCodec: PageCodec {
    private let pageSize: Int

    init(pageSize: Int) {
        self.pageSize = pageSize
    }

    func open(_ batch: PagePipeline.Batch, into plaintext: PageBuffer) throws {
        var index = 0
        try batch.forEach { page, number in
            guard page.count == pageSize else { throw UnauthenticPage(number: Int(number)) }
            plaintext.page(index).copyMemory(from: page)
            index += 1
        }
    }

    func seal(_ plaintext: PageBuffer, first: UInt32, count: Int, into pages: UnsafeMutableRawBufferPointer) {
        for index in 0..<count {
            let page = UnsafeMutableRawBufferPointer(rebasing: pages[(index * pageSize)...].prefix(pageSize))
            if LockBytePage.isPage(first + UInt32(index), ofSize: pageSize) {
                page.initializeMemory(as: UInt8.self, repeating: 0)
            } else {
                page.copyMemory(from: UnsafeRawBufferPointer(plaintext.page(index)))
            }
        }
    }
}
