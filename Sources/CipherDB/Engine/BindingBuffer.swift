internal import CipherKeys

/// Where short texts and blobs stand while a statement runs that they are bound to.
///
/// The engine would take memory for a copy of each, which takes longer than binding it. They stay where they are until the
/// statement gives its values up, so that the engine need not copy them.
struct BindingBuffer {
    /// Longer values, and what finds no room, the engine copies.
    static let size = 1024

    private var bytes: UnsafeMutableRawBufferPointer?
    private var used = 0
    /// How much of it held values since it was wiped.
    private var written = 0
    /// Also values that did not need, or find, room here.
    var hasBoundValues = false

    /// A copy of `value` that stays until ``wipe()``; nil where there is no room.
    mutating func keep(_ value: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard value.count <= BindingBuffer.size - used else { return nil }
        let bytes = self.bytes ?? .allocate(byteCount: BindingBuffer.size, alignment: 16)
        self.bytes = bytes
        let place = bytes.baseAddress! + used
        place.copyMemory(from: value.baseAddress!, byteCount: value.count)
        used += value.count
        return UnsafeRawPointer(place)
    }

    /// Makes room for other values of the same parameters. The statement must not run before each is bound.
    mutating func reuse() {
        written = max(written, used)
        used = 0
    }

    /// Forgets the values, which may be secret. Nothing may be bound to them any more.
    mutating func wipe() {
        hasBoundValues = false
        reuse()
        guard written > 0 else { return }
        if let bytes { OpenSSL.cleanse(UnsafeMutableRawBufferPointer(rebasing: bytes[..<written])) }
        written = 0
    }

    func deallocate() {
        bytes?.deallocate()
    }
}
