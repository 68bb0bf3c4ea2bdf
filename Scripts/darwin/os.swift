// What swift-argument-parser uses of os; nothing here runs.
public struct os_unfair_lock { public init() { fatalError() } }
public func os_unfair_lock_lock(_ lock: UnsafeMutablePointer<os_unfair_lock>) { fatalError() }
public func os_unfair_lock_unlock(_ lock: UnsafeMutablePointer<os_unfair_lock>) { fatalError() }
