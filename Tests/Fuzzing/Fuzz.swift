import CipherSystem

@testable import CipherKeys

/// The target that `CIPHERDB_FUZZ` names.
private let chosen = Platform.withEnvironmentVariable("CIPHERDB_FUZZ") {
    FuzzTarget(rawValue: String(decoding: $0, as: UTF8.self))
}.flatMap { $0 }

/// What libFuzzer calls (llvm.org/docs/LibFuzzer.html). What is thrown is an answer; a trap is a find.
@_cdecl("LLVMFuzzerTestOneInput")
public func tryBytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let target = chosen else {
        fatalError("set CIPHERDB_FUZZ to one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    try? target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The name under which the package manager looks for the entry of an executable on Linux.
@_cdecl("Fuzz_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { tryBytes($0, $1) }
}
