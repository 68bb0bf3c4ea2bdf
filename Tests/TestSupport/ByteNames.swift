import CipherKeys
import CipherSystem

/// Whether the file system takes names that are not UTF-8, as Linux does.
public enum ByteNames {
    /// Tried once, with a file.
    public static let arePossible: Bool = {
        guard let directory = try? TemporaryDirectory() else { return false }
        return (try? Platform.createPrivateFile(directory.file(String(pathBytes: [0x61, 0xFF])))) != nil
    }()
}
