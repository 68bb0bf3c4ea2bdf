internal import CipherDB
internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Functions and collations that only the program has, in a database that is made without it, so that tables that name them can be made.
///
/// Nothing is ever computed with them: a function fails where it is called, and an index that a collation was asked for is removed.
final class StandIns {
    /// What could not be made, and how it can be.
    struct Missing: Error, CustomStringConvertible {
        let message: String
        var description: String {
            "\(message), which only the program has: recover there, by DatabaseFile with its configuration"
        }
    }

    private let database: Database
    private var functions: Set<String> = []
    private var collations: Set<String> = []
    private let isAsked = Lock(false)

    init(_ database: Database) {
        self.database = database
    }

    /// Runs the statement of a table without rows or of an index.
    ///
    /// - Throws: ``Missing`` where something would have to be computed, now or when rows are inserted; `DatabaseError`.
    func make(_ object: SchemaObject, _ sql: String) throws {
        isAsked.withLock { $0 = false }
        var first: DatabaseError?
        while true {
            do {
                try database.executeOne(sql)
                break
            } catch let error as DatabaseError where error.namesWhatIsMissing && object.type == "table" {
                // A second time it is not what a stand-in helps against.
                guard try add(error.message) else { throw error }
                first = first ?? error
            } catch let error as DatabaseError where error.namesWhatIsMissing {
                throw Missing(message: error.message)
            }
        }
        if let first, try computes(object.name) {
            try database.executeOne("DROP TABLE \(quotedIdentifier(object.name))")
            throw Missing(message: first.message)
        }
        if object.type == "index", isAsked.withLock({ $0 }) {
            try database.executeOne("DROP INDEX \(quotedIdentifier(object.name))")
            throw Missing(message: "no such collation sequence: \(collations.sorted().joined(separator: ", "))")
        }
    }

    /// Makes what a message says is missing; false where it is there.
    private func add(_ message: String) throws -> Bool {
        func name(after beginning: String) -> String? {
            message.hasPrefix(beginning) ? String(message.dropFirst(beginning.count)).lowercased() : nil
        }
        if let name = name(after: "no such function: "), functions.insert(name).inserted {
            try database.makeFunction(named: name, isDeterministic: true, isInnocuous: true) { _ in
                throw DatabaseError(code: .error, message: "no such function: \(name)")
            }
            return true
        }
        if let name = name(after: "no such collation sequence: "), collations.insert(name).inserted {
            try database.makeCollation(named: name) { [isAsked] _, _ in
                isAsked.withLock { $0 = true }
                return .orderedSame
            }
            return true
        }
        return false
    }

    /// Whether a row of the table, whose constraints are not looked at, would be inserted by a stand-in.
    private func computes(_ table: String) throws -> Bool {
        // The engine computes generated columns for each row, also where it does not store them.
        let kinds = try strings("hidden", of: "PRAGMA table_xinfo(\(identifier: table))")
        if kinds.contains(where: { $0 != "0" }) { return true }
        return try strings("name", of: "PRAGMA index_list(\(identifier: table))").contains { index in
            try strings("coll", of: "PRAGMA index_xinfo(\(identifier: index))")
                .contains { collations.contains($0.lowercased()) }
        }
    }

    private func strings(_ column: String, of pragma: SQL) throws -> [String] {
        let rows = try database.executeQuery(pragma)
        defer { rows.close() }
        var strings: [String] = []
        while try rows.next() { strings.append(try rows.string(forColumn: column) ?? "") }
        return strings
    }
}
