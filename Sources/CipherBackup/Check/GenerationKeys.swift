internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// The keys that prove the generations of a repository.
struct GenerationKeys {
    /// A key, with what authenticates pages under it.
    struct Key {
        let backupKey: BackupKey
        private let cipher: PageCipher
        var pageSize: Int { cipher.format.pageSize }
        /// Whether a key proves pages, and not only which pages there are.
        var hasPageMACs: Bool { cipher.format.pageAuthentication != nil }

        /// The key that a manifest names, by the first page of its generation; nil where that is not among the caller's.
        init?(_ storage: any BackupStorage, _ manifest: Manifest, _ keyOf: ([UInt8]) throws -> PageKey?) throws {
            let walk = try GenerationWalk(storage, manifest)
            // A block is most often enough, and others may be in other segments. What cannot be read is damaged, and the check says so.
            var found: PageKey?
            for size in [BlockTree.blockSize, CipherFormat.pageSizes.last!] where found == nil {
                guard let head = try? walk.head(size) else { return nil }
                found = try keyOf(head)
            }
            guard let key = found else { return nil }
            backupKey = try BackupKey(key.key, repository: manifest.repository)
            cipher = try PageCipher(key: key.key, format: key.format)
            guard backupKey.identifier == manifest.keyIdentifier else { return nil }
        }

        /// Whether the first page of a generation can be read, whatever its size is.
        static func isReadable(_ storage: any BackupStorage, _ manifest: Manifest) -> Bool {
            (try? GenerationWalk(storage, manifest).head(CipherFormat.pageSizes.last!)) != nil
        }

        /// The numbers of the pages that are not what was written; none in a format without MACs.
        ///
        /// - Parameter start: Where the bytes are in the database. They begin and end with a page, or the database ends with them.
        func damagedPages(in bytes: UnsafeRawBufferPointer, at start: Int64) throws -> [Int] {
            try stride(from: 0, to: bytes.count, by: pageSize).compactMap { offset in
                let number = (start + Int64(offset)) / Int64(pageSize) + 1
                guard let page = UInt32(exactly: number) else { return nil }
                if LockBytePage.isPage(page, ofSize: pageSize) { return nil }
                let bytes = UnsafeRawBufferPointer(rebasing: bytes[offset...].prefix(pageSize))
                return try cipher.isAuthentic(bytes, number: page) == false ? Int(number) : nil
            }
        }
    }

    private let keys: [Key]
    /// For each manifest, the place of its key; nil where it is under another one, or made without.
    private let places: [Int?]
    private var known: [ClosedRange<UInt32>: Set<Int>] = [:]

    /// No keys.
    static var none: GenerationKeys { GenerationKeys(keys: [], places: []) }

    private init(keys: [Key], places: [Int?]) {
        self.keys = keys
        self.places = places
    }

    /// Finds the key of each manifest, by the first page of the newest generation that is under it and still has it.
    ///
    /// - Parameter keyOf: The key that opens a database whose first bytes these are; nil if there is none.
    init(
        _ storage: any BackupStorage,
        _ manifests: [StoredManifest],
        keyOf: ([UInt8]) throws -> PageKey?
    ) throws {
        var keys: [Key] = []
        var found: [[UInt8]: Int?] = [:]
        for manifest in manifests.reversed().map(\.manifest) {
            guard let identifier = manifest.keyIdentifier, found[identifier] == nil else { continue }
            let key = try Key(storage, manifest, keyOf)
            if key == nil, !Key.isReadable(storage, manifest) { continue }
            found[identifier] = .some(key == nil ? nil : keys.count)
            if let key { keys.append(key) }
        }
        self.init(keys: keys, places: manifests.map { $0.manifest.keyIdentifier.flatMap { found[$0] ?? nil } })
    }

    /// The key of a generation, by its place among the manifests.
    subscript(generation: UInt32) -> Key? {
        places.isEmpty ? nil : places[Int(generation)].map { keys[$0] }
    }

    /// The keys of the generations from the first to the last of a range.
    mutating func of(_ generations: ClosedRange<UInt32>) -> [Key] {
        guard !keys.isEmpty else { return [] }
        let range = Int(generations.lowerBound)...Int(generations.upperBound)
        let places = known[generations] ?? Set(self.places[range].compactMap { $0 })
        known[generations] = places
        return places.map { keys[$0] }
    }
}

/// Reads all that a generation needs, as a restore does.
struct GenerationWalk {
    private let manifest: Manifest
    private let nodes: SegmentReader
    private let blocks: SegmentReader

    init(_ storage: any BackupStorage, _ manifest: Manifest) throws {
        self.manifest = manifest
        nodes = try SegmentReader(storage, manifest, nodesOnly: true)
        blocks = try SegmentReader(storage, manifest, nodesOnly: false)
    }

    /// Throws where something is not what was written.
    ///
    /// - Parameter key: Authenticates the pages too.
    func run(_ key: GenerationKeys.Key?) throws {
        var bytes: [UInt8] = []
        var damaged: [Int] = []
        try visit(TreePiece(rootOf: manifest), below: .max) { block, start in
            guard let key else { return }
            bytes += block
            let end = start + Int64(block.count)
            // With whole pages, or the last one.
            guard end % Int64(key.pageSize) == 0 || end == manifest.databaseSize else { return }
            damaged += try bytes.withUnsafeBytes { try key.damagedPages(in: $0, at: end - Int64($0.count)) }
            bytes.removeAll(keepingCapacity: true)
        }
        guard damaged.isEmpty else { throw DamagedPages(numbers: damaged) }
    }

    /// The first bytes of the database.
    func head(_ count: Int) throws -> [UInt8] {
        var head: [UInt8] = []
        try visit(TreePiece(rootOf: manifest), below: Int64(count)) { block, _ in head += block }
        return Array(head.prefix(count))
    }

    /// Visits the blocks that begin below an offset in the database.
    private func visit(_ root: TreePiece, below end: Int64, _ body: ([UInt8], Int64) throws -> Void) throws {
        var known: Set<BlockReference> = []
        func visit(_ piece: TreePiece) throws {
            guard piece.start < end else { return }
            if piece.level > 0 {
                // Somebody could make a tree of endless size of a few nodes.
                guard known.insert(piece.reference).inserted else {
                    throw BackupError(.damagedObject, path: piece.reference.segment.name)
                }
                let bytes = try nodes.bytes(piece.reference, count: piece.storedSize)
                for child in piece.children(bytes) { try visit(child) }
            } else if piece.reference == .zeros {
                try body([UInt8](repeating: 0, count: piece.storedSize), piece.start)
            } else {
                try body(blocks.bytes(piece.reference, count: piece.storedSize), piece.start)
            }
        }
        try visit(root)
    }
}
