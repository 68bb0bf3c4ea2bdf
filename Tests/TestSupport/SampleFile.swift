/// Database files that stock shells write.
package enum SampleFile {
    /// Rows that take more than a hundred pages of 1,024 bytes, an index, and text that can be searched for.
    package static let script = """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, note BLOB);
        CREATE INDEX people_name ON people (name);
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
        INSERT INTO people SELECT n, 'Person-' || n || '-plaintextmarker', randomblob(100) FROM numbers;
        """

    /// What every reader of such a file must find.
    package static let query = "SELECT count(*) || '|' || sum(id) || '|' || max(name) FROM people;"
    package static let answer = "600|180300|Person-99-plaintextmarker"

    /// Writes such a file with `shell`, in `format` and with pages of `pageSize`.
    package static func make(
        at path: String,
        by shell: StockShell,
        key: SampleKey,
        format: Int,
        pageSize: Int? = nil,
        before: String = ""
    ) throws {
        var settings = shell.settings(forFormat: format)
        if let pageSize { settings.append("cipher_page_size = \(pageSize)") }
        try shell.run(path, key: key.pragma, settings: settings, before + script)
    }
}
