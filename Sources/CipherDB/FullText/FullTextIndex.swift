/// A full-text index of the main database, also one that the program made by SQL.
struct FullTextIndex {
    /// The modules, by the texts in a definition.
    enum Module: String, CaseIterable {
        case fts5, fts4, fts3
    }

    let name: String
    let module: Module

    private var table: String { "main." + quotedIdentifier(name) }
    private var command: String { "INSERT INTO \(table)(\(quotedIdentifier(name))" }

    /// The insertion by which the engine compares it with its text, in a table of the program's too. It writes nothing.
    var check: String {
        command + (module == .fts5 ? ", rank) VALUES ('integrity-check', 1)" : ") VALUES ('integrity-check')")
    }

    /// Whether it has the numbers of other rows than the table.
    var hasOtherRows: String {
        let known = "SELECT \(module == .fts5 ? "id" : "docid") FROM main.\(quotedIdentifier(name + "_docsize"))"
        let present = "SELECT rowid FROM \(table)"
        return "SELECT EXISTS (\(known) EXCEPT \(present)) OR EXISTS (\(present) EXCEPT \(known))"
    }

    /// What is to be said where it is not that of its table.
    var problem: String {
        "the full-text index \(name) is not that of its table's rows; "
            + "make it again by INSERT INTO \(quotedIdentifier(name))(\(quotedIdentifier(name))) VALUES ('rebuild')"
    }
}
