internal import CipherKeys

/// How the pages of a database are in its file.
package enum PageForm {
    case plaintext(pageSize: Int)
    case encrypted(PageCipher)

    package var pageSize: Int {
        switch self {
        case .plaintext(let size): size
        case .encrypted(let cipher): cipher.format.pageSize
        }
    }

    /// Whether nothing shows that `page` is damaged; always true without a MAC.
    func mayBe(_ page: [UInt8], _ number: UInt32) throws -> Bool {
        guard case .encrypted(let cipher) = self else { return true }
        return try cipher.isAuthentic(page, number: number) != false
    }

    /// The content of page 1; nil where nothing it says can be relied on.
    func firstPage(_ page: [UInt8]) throws -> [UInt8]? {
        guard case .encrypted(let cipher) = self else { return page }
        guard try cipher.isAuthentic(page, number: 1) == true else { return nil }
        return try cipher.decrypt(page, number: 1)
    }
}
