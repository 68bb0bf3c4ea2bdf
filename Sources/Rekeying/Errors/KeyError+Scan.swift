internal import CipherDB
internal import CipherPages

extension KeyError {
    /// For a file whose pages a scan found damaged.
    init(path: String, _ scan: PageScan.Result) {
        self.init(.damaged, path: path, damagedPages: scan.listed, detail: scan.rest)
    }
}

extension Verification {
    /// The error for an operation that needs every page; nil where every page is authentic.
    func damage(of path: String) -> KeyError? {
        if damagedPages.isEmpty { return nil }
        return KeyError(.damaged, path: path, damagedPages: damagedPages, detail: PageScan.rest(of: missingPages))
    }
}
