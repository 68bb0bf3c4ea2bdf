import Foundation

/// Runs `body` on a thread of its own, and waits for it.
package func onOtherThread<Result>(_ body: () throws -> Result) throws -> Result {
    try withoutActuallyEscaping(body) { body in
        let call = Call(body)
        let done = DispatchSemaphore(value: 0)
        Thread {
            call.run()
            done.signal()
        }.start()
        done.wait()
        return try call.result!.get()
    }
}

private final class Call<Value>: @unchecked Sendable {
    // It holds because the semaphore stands between the two threads.
    private var body: (() throws -> Value)?
    private(set) var result: Result<Value, any Error>?

    init(_ body: @escaping () throws -> Value) { self.body = body }

    func run() {
        result = body.map { body in Result { try body() } }
        // The thread may end later than who waits for it.
        body = nil
    }
}
