internal import CipherDB
internal import CipherSystem
internal import SQLiteFormat

/// The old file as a source of pages.
struct OldFile: PageSource {
    private let file: ExclusiveFile
    var path: String { file.path }

    init(_ file: ExclusiveFile) {
        self.file = file
    }

    func size() throws -> Int64 { try file.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try FileError.naming(file.path, FaultInjection.check(.read, file.path))
        return try file.read(into: buffer, at: offset)
    }
}
