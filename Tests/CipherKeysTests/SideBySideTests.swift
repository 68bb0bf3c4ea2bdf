import CipherSystem
import Dispatch
import TestSupport
import Testing

@Suite struct SideBySideTests {
    private struct Stop: Error, Equatable {
        let name: String
    }

    private enum Place {
        @TaskLocal static var name = "none"
    }

    /// Each waits for the other one: one after the other would never end.
    @Test(.timeLimit(.minutes(Extent.minutesOfAHang))) func bothRunAtOnce() throws {
        let (left, right) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (here, there) = SideBySide.run({
            left.signal()
            right.wait()
            return 1
        }) {
            right.signal()
            left.wait()
            return 2
        }
        #expect(try here.get() == 1 && there.get() == 2)
    }

    @Test func eachHasItsOwnError() throws {
        let (here, there) = SideBySide.run({ throw Stop(name: "here") }) { 2 }
        #expect(throws: Stop(name: "here")) { try here.get() }
        #expect(try there.get() == 2)
        let (first, second) = SideBySide.run({ 1 }) { throw Stop(name: "there") }
        #expect(try first.get() == 1)
        #expect(throws: Stop(name: "there")) { try second.get() }
    }

    @Test func firstStaysInItsTask() throws {
        let here = Place.$name.withValue("task") { SideBySide.run({ Place.name }) {}.0 }
        #expect(try here.get() == "task")
    }
}
