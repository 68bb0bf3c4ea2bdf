import Foundation

/// Runs `body` on a thread of its own, and waits for it.
package func onOtherThread<Result>(_ body: () throws -> Result) throws -> Result {
    try withoutActuallyEscaping(body) { body in
        let smuggled = Smuggled(body)
        let result = Box<Result>()
        let done = DispatchSemaphore(value: 0)
        Thread {
            result.value = Swift.Result { try smuggled.value() }
            done.signal()
        }.start()
        done.wait()
        return try result.value!.get()
    }
}

// It holds because the semaphore stands between the two threads.
private final class Box<Value>: @unchecked Sendable {
    var value: Swift.Result<Value, any Error>?
}
