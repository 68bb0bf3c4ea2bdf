/// The version of this library.
public enum CipherDBVersion {
    /// By semantic versioning.
    public static let current = "0.1.0"
}
