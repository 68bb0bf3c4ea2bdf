/// The version of this library.
package enum CipherDBVersion {
    /// By semantic versioning.
    package static let current = "0.1.0"
}
