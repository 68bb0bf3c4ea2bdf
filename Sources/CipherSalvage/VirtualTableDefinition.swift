/// The statement of a virtual table: its module, and the tables with the module's content.
struct VirtualTableDefinition {
    /// Where the rows of a full-text index stand.
    enum Content: Equatable {
        /// In a table of its own.
        case own
        /// Nowhere: only the index is stored.
        case none
        /// In another table or a view.
        case external(String)
    }

    let name: String
    /// In lower case.
    let module: String
    let content: Content

    /// - Parameter sql: As it stands in the schema, where no name of a database is in it; nil for what is no such statement.
    init?(name: String, sql: String?) {
        // > CREATE VIRTUAL TABLE name USING module(argument, …)
        guard let sql, let prefix = sql.firstMatch(of: /(?i)^CREATE\s+VIRTUAL\s+TABLE\s+/) else { return nil }
        var rest = sql[prefix.range.upperBound...]
        guard VirtualTableDefinition.takeName(&rest) != nil,
            let using = rest.firstMatch(of: /(?i)^\s+USING\s+/)
        else { return nil }
        rest = rest[using.range.upperBound...]
        guard let module = VirtualTableDefinition.takeName(&rest) else { return nil }
        self.name = name
        self.module = module.lowercased()
        if let option = rest.firstMatch(of: /(?i)[(,]\s*content\s*=\s*/) {
            var value = rest[option.range.upperBound...]
            let table = VirtualTableDefinition.takeName(&value) ?? ""
            content = table.isEmpty ? .none : .external(table)
        } else {
            content = .own
        }
    }

    /// A name at the beginning of `text`, quoted or not, which is removed from it.
    private static func takeName(_ text: inout Substring) -> String? {
        guard let first = text.first else { return nil }
        guard let closing: Character = ["\"": "\"", "'": "'", "`": "`", "[": "]"][first] else {
            let name = text.prefix { !$0.isWhitespace && !"(),;".contains($0) }
            text = text.dropFirst(name.count)
            return name.isEmpty ? nil : String(name)
        }
        var name = ""
        text = text.dropFirst()
        while let end = text.firstIndex(of: closing) {
            name += text[..<end]
            text = text[text.index(after: end)...]
            // A quotation mark in a name is written twice.
            guard closing != "]", text.first == closing else { return name }
            name.append(closing)
            text = text.dropFirst()
        }
        return nil
    }

    var isFullText: Bool { ["fts3", "fts4", "fts5"].contains(module) }

    var isRTree: Bool { ["rtree", "rtree_i32", "geopoly"].contains(module) }

    /// The tables without which the module opens nothing.
    var neededTables: [String] {
        let own = content == .own && isFullText ? ["content"] : []
        return switch module {
        case "fts5": named(["data", "idx", "config"] + own)
        case "fts3", "fts4": named(["segments", "segdir"] + own)
        case _ where isRTree: named(["node", "rowid", "parent"])
        default: []
        }
    }

    /// All tables that the module may have made.
    var shadowTables: [String] {
        switch module {
        case "fts5": named(["data", "idx", "config", "docsize", "content"])
        case "fts3", "fts4": named(["segments", "segdir", "docsize", "stat", "content"])
        default: neededTables
        }
    }

    /// The table with its rows, and the one with its settings: they outlive the index.
    var contentTable: String? { isFullText && content == .own ? "\(name)_content" : nil }
    var settingsTable: String? { module == "fts5" ? "\(name)_config" : nil }

    private func named(_ parts: [String]) -> [String] { parts.map { "\(name)_\($0)" } }
}
