import CipherDB
import Foundation
import Turns

/// A way to read the columns of a row: a type, so that it becomes part of the loop, as a program would write it.
protocol RowReading {
    static func digest(_ rows: ResultSet) throws -> Int64
}

enum IntoBytes: RowReading {
    @inline(__always)
    static func digest(_ rows: ResultSet) throws -> Int64 {
        let id: Int64 = try rows[0]
        let name: String = try rows[1]
        let value: Double = try rows[2]
        let data: ByteArray = try rows[3]
        return Turns.digest(id, name, value, data.bytes)
    }
}

enum IntoData: RowReading {
    @inline(__always)
    static func digest(_ rows: ResultSet) throws -> Int64 {
        let id: Int64 = try rows[0]
        let name: String = try rows[1]
        let value: Double = try rows[2]
        let data: Data = try rows[3]
        return Turns.digest(id, name, value, data)
    }
}

enum ByName: RowReading {
    @inline(__always)
    static func digest(_ rows: ResultSet) throws -> Int64 {
        let id = try Int64(rows.int(forColumn: "id")!)
        let name = try rows.string(forColumn: "name")!
        let value = try rows.double(forColumn: "value")!
        let data = try rows.data(forColumn: "data")!
        return Turns.digest(id, name, value, data)
    }
}

enum Borrowing: RowReading {
    @inline(__always)
    static func digest(_ rows: ResultSet) throws -> Int64 { try Workload.sum(rows) }
}
