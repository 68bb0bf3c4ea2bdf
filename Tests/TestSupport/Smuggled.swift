/// Something that the compiler keeps on its thread, taken to another one all the same.
package struct Smuggled<Value>: @unchecked Sendable {
    // It does not hold: that is what is tested.
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
