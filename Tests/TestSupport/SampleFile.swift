package import CipherDB
import Foundation

/// Database files that stock shells write.
package enum SampleFile {
    /// Rows that take more than a hundred pages of 1,024 bytes, an index, and text that can be searched for.
    package static let script = """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, note BLOB);
        CREATE INDEX people_name ON people (name);
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
        INSERT INTO people SELECT n, 'Person-' || n || '-plaintextmarker', randomblob(100) FROM numbers;
        """

    /// As ``script``, for CipherDB.
    package static let content = SQL(unsafe: script)

    /// What every reader of such a file must find.
    package static let query = "SELECT count(*) || '|' || sum(id) || '|' || max(name) FROM people;"
    /// As ``query``, for CipherDB.
    package static let question = SQL(unsafe: query)
    package static let answer = "600|180300|Person-99-plaintextmarker"

    /// Writes such a file with `shell`, in `format` or the shell's own, and with pages of `pageSize`.
    package static func make(
        at path: String,
        by shell: StockShell,
        key: SampleKey,
        format: Int? = nil,
        pageSize: Int? = nil,
        before: String = ""
    ) throws {
        var settings = shell.settings(forFormat: format ?? shell.format)
        if let pageSize { settings.append("cipher_page_size = \(pageSize)") }
        try shell.run(path, key: key.pragma, settings: settings, before + script)
    }
}

extension SampleFile {
    /// A database under a key, open nowhere.
    package static func make(at path: String, under key: DatabaseKey) throws {
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeStatements(content) }
        try queue.close()
    }

    /// A copy of such a database with a flipped bit in page 3.
    package static func makeDamaged(at copy: String, of path: String) throws {
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try flipByte(of: copy, at: 2 * (Engine.current.formats.first?.pageSize ?? 4096) + 7)
    }

    /// A database under a new keyring, open nowhere.
    package static func make(
        at path: String,
        under keyring: Keyring,
        _ secret: KeyringSecret,
        _ mode: JournalMode = .delete
    ) throws {
        try keyring.create(with: secret)
        let queue = try DatabaseQueue(
            path: path,
            key: .keyring(keyring, unlockedBy: secret),
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inDatabase { try $0.executeStatements(content) }
        try queue.close()
    }
}
