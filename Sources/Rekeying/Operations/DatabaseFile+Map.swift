public import CipherDB
internal import CipherKeys
internal import CipherPages
public import SQLiteFormat

extension DatabaseFile {
    /// What each page of the file is, from page 1 on.
    ///
    /// - Parameters:
    ///   - key: The key that the file has.
    ///   - progress: Called about every mebibyte; what it throws ends it.
    /// - Throws: `KeyError` where the key or the file is wrong as a whole; ``FileError``; `DatabaseError`.
    public func map(
        key: DatabaseKey,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> [PageKind] {
        try limitingWaits {
            let file = try open()
            defer { file.close() }
            let found = try authenticate(key, file)
            if case .sideFileUnderOtherKey(let side) = found.damage { throw file.underOtherKey(side) }
            let present = found.verifiedKey
            let pageSize = present.format.pageSize
            let map = try PageMap(file.pages.newest(pageSize: pageSize), key: present.key, format: present.format) {
                try progress(FileProgress(.checking, pages: $0, of: $1, size: pageSize))
            }
            return map.kinds
        }
    }
}
