public import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Else `localizedDescription`, which programs show, would be a number.
extension DatabaseError: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension MalformedKey: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension MalformedCommand: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension UnusablePassphraseDerivation: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension UnusableCipherFormat: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension OpenSSLError: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension SecretMemoryError: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}

extension UsedAfterFork: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}
