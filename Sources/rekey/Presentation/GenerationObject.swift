internal import CipherSystem
import Foundation
import Rekeying

/// A generation of a backup in JSON, and as a line.
struct GenerationObject: Encodable {
    let number: UInt64
    let time: String
    let databaseSize: Int64
    let storedSize: Int64
    let isAuthenticated: Bool
    let segments: Int

    init(_ generation: Generation) {
        number = generation.number
        time = GenerationObject.text(generation.time)
        databaseSize = generation.databaseSize
        storedSize = generation.storedSize
        isAuthenticated = generation.isAuthenticated
        segments = generation.segmentCount
    }

    /// In UTC, as ISO 8601 has it.
    static func text(_ time: Date) -> String { time.formatted(.iso8601) }

    /// What `rekey backups` prints.
    static func line(_ generation: Generation) -> String {
        let pages = (generation.databaseSize + 4095) / 4096
        return
            "\(text(generation.time))  \(generation.databaseSize.counted("byte")), \(pages.counted("block")), \(generation.storedSize.counted("byte")) stored"
            + (generation.isAuthenticated ? "" : ", without the key")
    }
}
