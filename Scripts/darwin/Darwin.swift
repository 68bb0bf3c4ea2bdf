// What the overlay of Apple's C library declares for Swift beside its headers: macros and variadic functions. As far as the package
// uses it; nothing here runs.
@_exported import Darwin

public var errno: Int32 { get { __error().pointee } set { __error().pointee = newValue } }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { fatalError() }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer) -> Int32 { fatalError() }
public var S_IFMT: mode_t { fatalError() }
public var S_IFIFO: mode_t { fatalError() }
public var S_IFDIR: mode_t { fatalError() }
public var S_IFREG: mode_t { fatalError() }
public var S_IFLNK: mode_t { fatalError() }
public var S_ISGID: mode_t { fatalError() }
public var CLOCK_REALTIME: clockid_t { fatalError() }
public var MAP_FAILED: UnsafeMutableRawPointer! { fatalError() }
public var SIG_DFL: sig_t? { fatalError() }
public var SIG_IGN: sig_t { fatalError() }
public var TIOCGWINSZ: UInt { fatalError() }
public func ioctl(_ descriptor: Int32, _ request: UInt, _ pointer: UnsafeMutableRawPointer) -> Int32 { fatalError() }
public var stderr: UnsafeMutablePointer<FILE> { fatalError() }
