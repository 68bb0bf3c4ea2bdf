internal import CipherKeys

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A generation that has the state of a database.
package struct StoredGeneration {
    package let generation: Generation
    /// Whether it was made now; false where nothing has changed since it was.
    package let isNew: Bool
    package let warnings: [BackupWarning]
}

/// One generation of a backup: the state of a database at one time.
public struct Generation: Sendable, Equatable {
    /// From 1; each generation has a higher number than those before.
    public let number: UInt64
    /// When the state was read, by the clock of the machine that did.
    public let time: Date
    /// Bytes of the database.
    public let databaseSize: Int64
    /// Bytes that were stored for this generation alone; the others are those of earlier generations.
    public let storedSize: Int64
    /// Whether the manifest has a MAC, by which the key of the database proves it.
    public let isAuthenticated: Bool
    /// How many segments a restore reads.
    public let segmentCount: Int

    init(_ manifest: Manifest) {
        number = manifest.number
        time = Date(timeIntervalSince1970: Double(manifest.time))
        databaseSize = manifest.databaseSize
        storedSize = manifest.storedSize
        isAuthenticated = manifest.keyIdentifier != nil
        segmentCount = manifest.segments.count
    }
}
