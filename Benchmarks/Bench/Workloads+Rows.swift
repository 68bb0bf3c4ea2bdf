import CipherDB
import Foundation
import Turns

/// How a row becomes a type of the program's.
enum RowDecoding: String {
    case codable = "Codable"
    case byHand = "by hand"
}

extension Workload {
    /// The scan into values by types of rows; the first side is GRDB, where it is there.
    static func decode(_ files: BenchmarkFiles, _ theirs: RowDecoding) -> Workload {
        let settings = BenchmarkFiles.smallCache
        let grdb = Peer.grdb.map {
            Side(
                name: "GRDB, \(theirs.rawValue)",
                $0,
                [files.path("rows.db"), BenchmarkFiles.digits, settings, theirs.rawValue]
            )
        }
        return Workload(
            name: "rows into a type of 4 columns, over GRDB's \(theirs.rawValue)",
            count: files.rowCount,
            unit: "row",
            goals: grdb == nil ? [:] : ["Codable": .atMost(theirs == .codable ? 0.45 : 1)],
            setUp: { files.fill("rows.db") },
            sides: (grdb.map { [$0] } ?? []) + [
                decoding(files, .codable, CodableRow.self) { digest($0.id, $0.name, $0.value, $0.data) },
                decoding(files, .byHand, RowByHand.self) { digest($0.id, $0.name, $0.value, $0.data) },
            ]
        )
    }

    private static func decoding<Row: RowDecodable>(
        _ files: BenchmarkFiles,
        _ decoding: RowDecoding,
        _ type: Row.Type,
        _ digest: @escaping (Row) -> Int64
    ) -> Side {
        Side(name: decoding.rawValue) {
            let database = try files.database("rows.db", BenchmarkFiles.smallCache)
            return Work { try database.fetchAll(type, BenchmarkFiles.select).reduce(0) { $0 + digest($1) } }
        }
    }

    private struct CodableRow: Codable, RowDecodable {
        let id: Int64
        let name: String
        let value: Double
        let data: Data
    }

    private struct RowByHand: RowDecodable {
        let id: Int64
        let name: String
        let value: Double
        let data: Data

        init(row: ResultSet) throws {
            id = try row[0]
            name = try row[1]
            value = try row[2]
            data = try row[3]
        }
    }
}
