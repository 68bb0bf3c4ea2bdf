#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension FileProblem: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension FileFailure: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}
