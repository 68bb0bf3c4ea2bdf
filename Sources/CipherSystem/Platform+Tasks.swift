internal import CCipherSystem
package import Dispatch

extension Platform {
    /// Whether this thread runs a task, or belongs to Swift's pool: one that waits there blocks every task.
    package static var isOfTask: Bool {
        // What a task leaves behind when it is over is destroyed on a thread of the pool without a task.
        withUnsafeCurrentTask { $0 != nil } || isOfPool
    }

    /// Whether this thread belongs to Swift's cooperative pool, as the name of its queue says.
    package static var isOfPool: Bool {
        guard let label = csystem_queue_label() else { return false }
        let name = String(cString: label)
        return name == "Swift global concurrent queue"
            || name.hasPrefix("com.apple.root") && name.hasSuffix("cooperative")
    }
}

extension DispatchQoS {
    /// The class for the job of a task with this priority.
    package init(_ priority: TaskPriority) {
        self =
            switch priority.rawValue {
            case 0x21...: .userInteractive
            case TaskPriority.high.rawValue...: .userInitiated
            case TaskPriority.medium.rawValue...: .default
            case TaskPriority.utility.rawValue...: .utility
            case TaskPriority.background.rawValue...: .background
            default: .unspecified
            }
    }
}

extension DispatchQueue {
    /// Calls `body` with the priority of a task, whatever that of this thread is.
    package func async(_ priority: TaskPriority, _ body: @escaping @Sendable () -> Void) {
        #if canImport(Darwin)
            async(qos: DispatchQoS(priority), flags: .enforceQoS, execute: body)
        #else
            // Elsewhere Dispatch has no priorities, and a block with one takes longer.
            async(execute: body)
        #endif
    }
}
