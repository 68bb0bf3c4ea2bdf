import SQLiteFormat

@testable import CipherDB
@testable import CipherKeys
@testable import CipherPages

/// What reads bytes that an attacker may have written.
enum FuzzTarget: String, CaseIterable {
    case fileKind, search, header, tree, record, journal, log, page, keyring, hexadecimal, recoveryCode, uri, sql

    func run(_ bytes: [UInt8]) throws {
        switch self {
        case .fileKind:
            _ = try FileKind.recognise(Bytes(bytes))
            _ = try FileKind.looksEncrypted(Bytes(bytes))
        case .search:
            // A whole page of the smallest size, at least, so that every format looks at it.
            let file = Bytes(bytes + [UInt8](repeating: 0, count: 2048))
            _ = try FileKind.recognise(file)
            _ = try FileKind.hasLayoutOfMultipleCiphers(file)
            let keys = try DerivedKeys(FuzzTarget.key().with(salt: [UInt8](repeating: 2, count: 16)))
            let outcome = try KeyProbe(database: file, log: nil).run(keys, FormatSearch(preferred: [.v4]))
            guard case .rejected = outcome else { preconditionFailure("a key opens what nobody wrote under it") }
        case .header:
            let page = FuzzTarget.filled(bytes)
            let header = DatabaseHeader(page)
            _ = header.encoding.text(page[...])
        case .tree:
            guard let first = bytes.first else { return }
            let number = first & 1 == 0 ? 2 : 1
            let page = FuzzTarget.filled(Array(bytes.dropFirst()))
            guard let tree = BTreePage(page, number: number, usableSize: page.count - Int(first >> 1) % 81) else {
                return
            }
            for index in 0..<tree.cellCount { _ = tree.cell(index) }
        case .record: _ = StoredValue.values(ofRecord: bytes)
        case .journal:
            let source = Bytes(bytes)
            _ = try RollbackJournal.isFinalized(source)
            _ = try RollbackJournal.superJournal(source)
            if let journal = try RollbackJournal(source) {
                _ = try journal.firstPage()
                _ = try journal.offsets()
                _ = try journal.holdsPages(FuzzTarget.cipher())
                let side = PageCoding.plaintext(pageSize: journal.pageSize)
                _ = try RollbackJournal.errors(source, database: source, coding: side)
            }
        case .log:
            let source = Bytes(bytes)
            if let log = try WriteAheadLog(source) {
                for offset in log.firstPages.prefix(8) { _ = try source.read(log.pageSize, at: offset) }
            }
            _ = try WriteAheadLog.validFrames(source)
            _ = try WriteAheadLog.errors(source, pageSize: FuzzTarget.cipher().format.pageSize)
        case .page:
            let cipher = try FuzzTarget.cipher()
            let page = FuzzTarget.filled(bytes, cipher.format.pageSize)
            _ = try cipher.isAuthentic(page, number: 1)
            _ = try cipher.opensFirstPage(page)
            _ = try cipher.decrypt(page, number: 2)
        case .keyring:
            // With a right digest, which no mutation would find.
            let body = try bytes + Cryptography.sha256(bytes)
            let content = try KeyringContent(body + [UInt8](repeating: 0, count: KeyringContent.codeSize))
            // One content has one encoding.
            let again = try content.encoded()
            precondition(again == body)
            _ = try? content.unlock(.keyFile(SecretBytes(copying: [UInt8](repeating: 7, count: 32))), slot: nil)
        case .hexadecimal: _ = try bytes.withUnsafeBytes { try Hexadecimal.decode($0) }
        case .recoveryCode:
            let code = try RecoveryCode(typed: SecretBytes(copying: bytes))
            let again = try RecoveryCode(typed: code.text())
            let isSame = try again == code
            precondition(isSame)
        case .uri:
            let uri = try DatabaseURI(String(decoding: bytes, as: UTF8.self))
            _ = try uri.flags([.readWrite, .create])
        case .sql:
            let text = String(decoding: bytes, as: UTF8.self)
            _ = DatabaseError.mayHoldKey(text)
            _ = quotedIdentifier(text)
        }
    }

    /// A page, of the smallest size unless another is given.
    private static func filled(_ bytes: [UInt8], _ size: Int = 512) -> [UInt8] {
        Array((bytes + [UInt8](repeating: 0, count: size)).prefix(size))
    }

    private static func key() throws -> DatabaseKey {
        try DatabaseKey.raw(SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
    }

    private static func cipher() throws -> PageCipher {
        let format = try CipherFormat { $0.pageSize = 1024 }
        return try PageCipher(key: key().derive(salt: [UInt8](repeating: 2, count: 16), format: format), format: format)
    }
}

/// Bytes as a file.
struct Bytes: PageSource {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func size() throws -> Int64 { Int64(bytes.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard offset >= 0, offset < Int64(bytes.count) else { return 0 }
        let part = bytes[Int(offset)...].prefix(buffer.count)
        part.withUnsafeBytes { buffer.copyMemory(from: $0) }
        return part.count
    }
}
