import Foundation
import Rekeying

/// What a file of which nothing is known looks like.
struct AppearanceObject: Encodable {
    let entropy: Double
    let possiblePageSizes: [Int]
    let plaintextHeader: Bool

    init(_ appearance: Inspection.Appearance) {
        // Two digits are more than such a sample tells.
        entropy = (appearance.entropy * 100).rounded() / 100
        possiblePageSizes = appearance.possiblePageSizes
        plaintextHeader = appearance.hasPlaintextHeader
    }

    static func lines(_ appearance: Inspection.Appearance) -> [(String, String)] {
        let object = AppearanceObject(appearance)
        let sizes = appearance.possiblePageSizes.map(String.init).joined(separator: ", ")
        let entropy = String(format: "%.2f bits of entropy per byte", object.entropy)
        return [
            (
                "note",
                appearance.hasPlaintextHeader
                    ? "encrypted behind a plaintext header; the salt is not in the file"
                    : "encrypted, or noise: a key decides; \(entropy)"
            ),
            (
                "note",
                sizes.isEmpty ? "the size is no multiple of a page size" : "page sizes that divide the size: \(sizes)"
            ),
        ]
    }
}
