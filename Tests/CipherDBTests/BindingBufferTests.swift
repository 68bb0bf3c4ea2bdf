import TestSupport
import Testing

@testable import CipherDB

@Suite struct BindingBufferTests {
    private func bytes(_ place: UnsafeRawPointer?, _ count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: place, count: count))
    }

    @Test func wipeClearsValuesOfAllRows() throws {
        var buffer = BindingBuffer()
        defer { buffer.deallocate() }
        let secret: [UInt8] = Array(repeating: 7, count: 100)
        let place = try #require(secret.withUnsafeBytes { buffer.keep($0) })
        buffer.reuse()
        // That of the next row is shorter.
        let next = secret.prefix(3).withUnsafeBytes { buffer.keep($0) }
        #expect(next == place && bytes(place, 100) == secret)
        buffer.wipe()
        #expect(bytes(place, 100) == Array(repeating: 0, count: 100))
    }

    @Test func longValuesFindNoRoom() {
        var buffer = BindingBuffer()
        defer { buffer.deallocate() }
        let value = [UInt8](repeating: 1, count: BindingBuffer.size)
        #expect(value.withUnsafeBytes { buffer.keep($0) } != nil)
        #expect([UInt8(1)].withUnsafeBytes { buffer.keep($0) } == nil)
        buffer.reuse()
        #expect([UInt8(1)].withUnsafeBytes { buffer.keep($0) } != nil)
    }
}
