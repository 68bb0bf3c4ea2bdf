import CipherKeys
import CipherSystem

/// Whether the file system takes names that are not UTF-8, as Linux does.
public enum ByteNames {
    /// Tried once, with a file.
    public static let arePossible: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        return (try? Platform.createPrivateFile(folder.file(String(pathBytes: [0x61, 0xFF])))) != nil
    }()
}
