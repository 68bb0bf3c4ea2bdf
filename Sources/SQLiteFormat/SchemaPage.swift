internal import CipherSystem

/// Page 1 of a plaintext database.
enum SchemaPage {
    /// Whether every cell of the page stands in it, and is a row of the schema or leads to a page of the file.
    static func isSound(_ page: [UInt8], pageCount: Int) -> Bool {
        guard let tree = BTreePage(page, number: 1, usableSize: page.count - Int(page[20])), tree.kind.isTable else {
            return false
        }
        return (0..<tree.cellCount).allSatisfy { index in
            guard let cell = tree.cell(index) else { return false }
            guard let child = cell.leftChild else { return cell.payload.map { isRow($0.local) } ?? false }
            return (2...max(2, pageCount)).contains(child)
        }
    }

    /// > The header begins with a varint of its own size, followed by one varint for the type of each column.
    /// The columns are type, name, tbl_name, rootpage and sql: texts, but for the number of a page.
    private static func isRow(_ record: ArraySlice<UInt8>) -> Bool {
        let start = record.startIndex
        var header = ByteReader(record, at: start)
        guard let size = header.varint() else { return false }
        var types: [Int64] = []
        while header.position - start < size, let type = header.varint() { types.append(type) }
        guard header.position - start == size, types.count == 5 else { return false }
        let isNumber = (0...6).contains(types[3]) || (8...9).contains(types[3])
        return isNumber && [0, 1, 2, 4].allSatisfy { types[$0] == 0 || types[$0] >= 13 && types[$0] % 2 == 1 }
    }
}
