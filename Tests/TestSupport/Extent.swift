import Foundation

/// How much of what a test could enumerate it does enumerate: `make test` a part that each mutant of it fails, `make torture`
/// all. Documentation of what is left out, and of the mutant that shows that the rest still sees it, is in Tests/Thinned.md.
package enum Extent {
    /// Whether everything is enumerated, as `CIPHERDB_COMPLETE=1` asks.
    package static let isComplete = ProcessInfo.processInfo.environment["CIPHERDB_COMPLETE"] == "1"
}
