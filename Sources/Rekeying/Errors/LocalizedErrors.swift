#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension FileError: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}
