import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

@Suite(.atTheEnds) struct RepositoryCheckTests {
    let fixture: RepositoryFixture

    init() throws {
        fixture = try RepositoryFixture()
    }

    /// A repository of so many generations, each with changes of its own.
    private func make(_ count: Int) throws {
        let queue = try fixture.open(.wal)
        for number in 1...count {
            try queue.inDatabase {
                try $0.executeUpdate("UPDATE people SET note = randomblob(50) WHERE id % 100 = \(number)")
            }
            try fixture.backUp()
        }
        try queue.close()
    }

    private var manifests: [StoredManifest] { get throws { try fixture.repository.manifests() } }

    /// Its identifier stands in each manifest. One that is damaged is moved away first.
    @Test func lostMarkerCostsNoGeneration() throws {
        try make(3)
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: "repository"))
        let check = try fixture.repository.check()
        #expect(check.sound == [1, 2, 3] && check.problems.count == 1, "\(check)")
        #expect(try fixture.repository.generations().map(\.number) == [1, 2, 3])
        for number in 1...3 as ClosedRange<UInt64> {
            #expect(try fixture.answer(.number(number)) != nil)
        }
        // What is stored needs it.
        #expect(throws: BackupError.self) { try fixture.backUp() }
        #expect(throws: BackupError.self) { try fixture.repository.prune(keeping: RetentionPolicy()) }
        #expect(fixture.objects("generations").count == 3)
    }

    /// Adds a generation that somebody without the key made of the newest one.
    private func forge(
        number: UInt64? = nil,
        size: Int64? = nil,
        root: (BlockReference) -> BlockReference = { $0 },
        segments: ([SegmentSummary]) -> [SegmentSummary] = { $0 }
    ) throws {
        let newest = try #require(manifests.last)
        let manifest = Manifest(
            repository: newest.manifest.repository,
            number: number ?? newest.manifest.number + 1,
            time: newest.manifest.time,
            previous: try newest.digest,
            keyIdentifier: nil,
            databaseSize: size ?? newest.manifest.databaseSize,
            storedSize: 0,
            root: root(newest.manifest.root),
            segments: segments(newest.manifest.segments)
        )
        let stored = try StoredManifest(manifest, nil)
        try fixture.repository.storage.add("generations/" + stored.name, stored.file)
    }

    /// Stores all nodes of a tree, with the right digests.
    private func store(_ tree: inout BlockTree, _ writer: SegmentWriter) throws {
        let hash = try Cryptography.SHA256()
        for level in tree.levels {
            for index in tree.indexes(level) {
                let node = BlockReference.node(of: try tree.children(level, index))
                tree.setNode(try writer.append(node: node, hash.digest(of: node)), level: level, index: index)
            }
        }
        try writer.finish()
        try writer.store()
    }

    @Test func eachSegmentIsReadOnce() throws {
        try make(40)
        let storage = CountingStorage(fixture.directory.file("repository"))
        let found = try BackupRepository(storage: storage).check()
        #expect(found.problems == [] && found.sound == Array(1...40))
        let segments = Set(try manifests.flatMap(\.manifest.segments))
        #expect(segments.count > 30 && found.size == segments.reduce(0) { $0 + Int64($1.size) })
        for segment in segments {
            let name = segment.identifier.name
            #expect(storage.opened[name] == 1)
            let times = storage.timesRead(name, size: Int(segment.size))
            // Nodes say what the blocks are, and are read before them.
            #expect(times[42..<Int(segment.nodes)].allSatisfy { $0 == 1 }, "\(name)")
            #expect(times.allSatisfy { 1...2 ~= $0 }, "\(name)")
        }
    }

    @Test func unlistedSegmentIsFound() throws {
        try make(3)
        try forge(segments: { Array($0.dropFirst()) })
        let found = try fixture.repository.check()
        #expect(found.sound == [1, 2, 3])
        #expect(found.problems.count == 1 && found.problems[0].hasPrefix("generation 4 cannot be restored: segments/"))
    }

    @Test func wrongDigestOfNodeIsFound() throws {
        try make(2)
        try forge(root: { BlockReference(segment: $0.segment, offset: $0.offset, digest: Digest()) })
        let found = try fixture.repository.check()
        #expect(found.sound == [1, 2])
        #expect(found.problems.count == 1 && found.problems[0].hasPrefix("generation 3 cannot be restored: segments/"))
    }

    @Test func wrongDigestOfBlockIsFound() throws {
        try make(2)
        let newest = try #require(manifests.last?.manifest)
        let storage = fixture.repository.storage
        var tree = try SegmentReader(storage, newest, nodesOnly: true).tree(newest)
        let block = try tree.block(5)
        try tree.setBlock(BlockReference(segment: block.segment, offset: block.offset, digest: Digest()), at: 5)
        let writer = SegmentWriter(storage, repository: newest.repository)
        try store(&tree, writer)
        try forge(root: { _ in tree.root }, segments: { $0 + writer.segments })
        let found = try fixture.repository.check()
        #expect(found.sound == [1, 2])
        #expect(
            found.problems == [
                "generation 3 cannot be restored: \(BackupError(.damagedObject, path: block.segment.name))"
            ]
        )
        // Also where no other generation has the block.
        for name in fixture.objects("generations").prefix(2) { try storage.remove("generations/" + name) }
        #expect(try fixture.repository.check().sound == [])
    }

    @Test func bytesThatNothingNeedsAreChecked() throws {
        try make(2)
        let storage = fixture.repository.storage
        let trees = try manifests.map { stored in
            try SegmentReader(storage, stored.manifest, nodesOnly: true).tree(stored.manifest)
        }
        let blocks = try trees.map { try $0.all() }
        let replaced = try #require(zip(blocks[0], blocks[1]).first { $0 != $1 }?.0)
        try fixture.repository.prune(keeping: RetentionPolicy(newest: 1))
        #expect(try fixture.repository.check().problems == [])
        try flipByte(of: fixture.path(ofObject: replaced.segment.name), at: Int(replaced.offset) + 9)
        let found = try fixture.repository.check()
        // It is restored all the same.
        #expect(found.sound == [2] && found.problems == ["\(BackupError(.damagedObject, path: replaced.segment.name))"])
    }

    @Test func damageLosesOnlyGenerationsThatNeedIt() throws {
        try make(4)
        let storage = fixture.repository.storage
        let trees = try manifests.map { stored in
            try SegmentReader(storage, stored.manifest, nodesOnly: true).tree(stored.manifest)
        }
        // A block of the first generation alone, in a segment that all need.
        let blocks = try trees.map { try $0.all() }
        let replaced = try #require(
            zip(blocks[0], blocks[1]).first { $0 != $1 && $0.segment == blocks[3][1].segment }?.0
        )
        let path = fixture.path(ofObject: replaced.segment.name)
        try flipByte(of: path, at: Int(replaced.offset) + 9)
        for found in [try fixture.repository.check(), try proved()] {
            #expect(found.sound == [2, 3, 4] && found.problems.count == 2, "\(found.problems)")
            #expect(found.problems.contains { $0.hasPrefix("generation 1 cannot be restored: segments/") })
        }
        #expect(try proved().proved == [2, 3, 4])
        // The header is needed by none.
        try flipByte(of: path, at: 20)
        #expect(try proved().proved == [2, 3, 4])
        try flipByte(of: path, at: Int(replaced.offset) + 9)
        #expect(try proved().proved == [1, 2, 3, 4])
        try flipByte(of: path, at: 20)
        #expect(try proved().problems == [])
    }

    @Test func cutSegmentLosesOnlyGenerationsThatNeedIt() throws {
        try make(3)
        let last = try #require(manifests.last?.manifest.segments.last)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path(ofObject: last.identifier.name)))
        try file.truncate(atOffset: last.size - 1)
        try file.close()
        #expect(try proved().proved == [1, 2])
    }

    @Test func lostFirstPageHidesNoOtherProof() throws {
        try make(2)
        let queue = try DatabaseQueue(path: fixture.path, key: RepositoryFixture.key.key)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE other (a)") }
        try queue.close()
        try fixture.backUp()
        let newest = try #require(manifests.last?.manifest)
        let tree = try SegmentReader(fixture.repository.storage, newest, nodesOnly: true).tree(newest)
        let first = try tree.block(0)
        try #require(newest.segments.first?.identifier != first.segment)
        try flipByte(of: fixture.path(ofObject: first.segment.name), at: Int(first.offset))
        let found = try proved()
        #expect(found.sound == [1, 2] && found.proved == [1, 2], "\(found.problems)")
    }

    @Test func repositoryWithoutGenerationIsAProblem() throws {
        try make(1)
        try fixture.repository.storage.remove("generations/" + fixture.objects("generations")[0])
        let none = BackupError(.noGeneration, path: fixture.directory.file("repository")).description
        for found in [try fixture.repository.check(), try proved()] { #expect(found.problems == [none]) }
    }

    @Test func pagesWithoutMACsAreNotProved() throws {
        let key = try DatabaseKey.passphrase("without MACs")
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.unsafePageAuthentication = nil }
        try fixture.open(format: format, key: key).close()
        var file = fixture.file
        file.configuration.format = format
        try file.backUp(to: fixture.repository, key: key)
        let found = try fixture.repository.check(provingBy: [key], format: format)
        #expect(found.problems == [] && found.sound == [1] && found.proved == [] && found.provedByManifest == [1])
    }

    private func proved(_ keys: [DatabaseKey] = [RepositoryFixture.key.key]) throws -> RepositoryCheck {
        try fixture.repository.check(provingBy: keys)
    }

    @Test func keyProvesManifestsAndPages() throws {
        try make(3)
        let found = try proved()
        #expect(found.problems == [] && found.sound == [1, 2, 3] && found.proved == [1, 2, 3])
        // Of a generation without a MAC nothing is proved, and the newest one needs it.
        try forge()
        let second = try proved()
        #expect(second.sound == [1, 2, 3, 4] && second.proved == [1, 2, 3])
        #expect(
            second.problems == [
                BackupError(.unauthenticated, path: fixture.objects("generations")[3], newestProved: 3).description
            ]
        )
    }

    @Test func keyIsProvedOnEveryPageSize() throws {
        let own = try #require(Engine.current.formats.first)
        for size in [1024, 8192, 65536] {
            let fixture = try RepositoryFixture()
            let format = try CipherFormat(own) { $0.pageSize = size }
            let queue = try fixture.open(.wal, format: format)
            for number in 1...3 {
                try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = 'x' WHERE id = \(number * 100)") }
                try fixture.backUp()
            }
            try queue.close()
            let storage = CountingStorage(fixture.directory.file("repository"))
            let key = RepositoryFixture.key.key
            #expect(try BackupRepository(storage: storage).check(provingBy: [key]).proved == [1, 2, 3])
            // But for the first page of the newest generation and the nodes above it, which say what the format is.
            let segments = storage.opened.filter { $0.key.hasPrefix("segments/") }
            let again = segments.values.filter { $0 > 1 }.count
            #expect(segments.count == 3 && (size > 4096 || again <= 2), "\(segments)")
        }
    }

    @Test func generationsUnderOtherKeysAreCheckedWithout() throws {
        try make(2)
        let other = SampleKey.named("other").key
        try fixture.file.changeKey(from: RepositoryFixture.key.key, to: other)
        try fixture.backUp(other)
        let found = try proved([other])
        #expect(found.problems == [] && found.sound == [1, 2, 3] && found.proved == [3])
        #expect(try proved([other, RepositoryFixture.key.key]).proved == [1, 2, 3])
        let newest = fixture.objects("generations")[2]
        #expect(throws: BackupError(.otherKey, path: newest)) { try proved() }
    }

    @Test func copyUnderSameKeyIsProved() throws {
        try make(2)
        // Another salt, so other MACs, under the same raw key.
        let copy = fixture.directory.file("copy.db")
        let raw = try DatabaseKey.sample("raw")
        try fixture.file.changeKey(from: RepositoryFixture.key.key, to: raw)
        try fixture.backUp(raw)
        try fixture.file.copy(key: raw, to: copy)
        try DatabaseFile(path: copy).backUp(to: fixture.repository, key: raw)
        let found = try proved([raw])
        #expect(found.problems == [] && found.proved == [3, 4])
    }

    @Test func pageStaysInOneSegment() throws {
        try fixture.repository.prepare()
        let writer = SegmentWriter(fixture.repository.storage, repository: [UInt8](repeating: 0, count: 16))
        let block = [UInt8](repeating: 1, count: BlockTree.blockSize)
        // The segment is full in the middle of a page of 65,536 bytes.
        let segments = try (1..<16_420).map { index in
            try block.withUnsafeBytes { try writer.append(block: $0, index, Digest()) }.segment
        }
        writer.discard()
        #expect(Set(segments).count == 2)
        let last = try #require(segments.lastIndex(of: segments[0])) + 1
        #expect((last + 1) % 16 == 0)
    }

    /// Replaces page 6 of the newest generation, with digests that are right.
    private func replacePage(_ key: BackupKey?, byZeros: Bool = false) throws {
        let newest = try #require(manifests.last)
        let (manifest, storage) = (newest.manifest, fixture.repository.storage)
        var tree = try SegmentReader(storage, manifest, nodesOnly: true).tree(manifest)
        let writer = SegmentWriter(storage, repository: manifest.repository)
        let hash = try Cryptography.SHA256()
        let page = [UInt8](repeating: 7, count: 4096)
        let reference =
            try byZeros ? .zeros : page.withUnsafeBytes { try writer.append(block: $0, 5, hash.digest(of: $0)) }
        try tree.setBlock(reference, at: 5)
        try store(&tree, writer)
        let forged = Manifest(
            repository: manifest.repository,
            number: manifest.number,
            time: manifest.time,
            previous: manifest.previous,
            keyIdentifier: manifest.keyIdentifier,
            databaseSize: manifest.databaseSize,
            storedSize: 0,
            root: tree.root,
            segments: manifest.segments + writer.segments
        )
        let stored = try StoredManifest(forged, key)
        try storage.remove("generations/" + newest.name)
        try storage.add("generations/" + stored.name, stored.file)
    }

    @Test func replacedPageNeedsKeyToBeFound() throws {
        try make(2)
        try replacePage(nil)
        #expect(try fixture.repository.check().problems == [])
        let found = try proved()
        #expect(found.sound == [1] && found.proved == [1])
        #expect(found.problems == [BackupError(.altered, path: fixture.objects("generations")[1]).description])
    }

    @Test(arguments: [false, true]) func pageWithWrongMACIsFound(isZeros: Bool) throws {
        try make(2)
        let salt = try FileState(fixture.path).bytes.prefix(CipherFormat.saltSize)
        let format = try #require(Engine.current.formats.first)
        let key = try RepositoryFixture.key.key.derive(salt: Array(salt), format: format)
        // By somebody who has the key: the manifest has the right MAC.
        try replacePage(BackupKey(key, repository: #require(manifests.last).manifest.repository), byZeros: isZeros)
        let found = try proved()
        #expect(found.sound == [1] && found.problems.count == 1)
        let pages = RepositoryFixture.pageSize == 4096 ? "page 6 has a wrong MAC" : "pages"
        #expect(found.problems[0].hasPrefix("generation 2 cannot be restored: \(pages)"), "\(found.problems)")
    }

    @Test func nodesBeforeTheirPlaceAreFound() throws {
        try make(2)
        // By rclone they would not be read.
        try forge(segments: {
            $0.map { SegmentSummary(identifier: $0.identifier, size: $0.size, nodes: $0.size, digest: $0.digest) }
        })
        let found = try fixture.repository.check()
        #expect(found.sound == [1, 2] && found.problems.count == 1)
    }

    @Test func anyOrderOfSegmentsIsAccepted() throws {
        try make(3)
        let stored = try manifests
        try forge(segments: { $0.reversed() })
        for each in stored { try fixture.repository.storage.remove("generations/" + each.name) }
        let found = try fixture.repository.check()
        #expect(found.sound == [4] && found.problems == ["missing, and not pruned: generations 1 to 3"])
    }

    @Test func impossibleSizesAreProblems() throws {
        try make(1)
        for size: UInt64 in [1 << 40, (1 << 40) - 1] {
            try forge(segments: {
                let real = $0.map {
                    SegmentSummary(identifier: $0.identifier, size: size, nodes: $0.nodes, digest: $0.digest)
                }
                let none = (UInt8(0)..<5).map { number in
                    let identifier = [UInt8](repeating: number, count: 16).withUnsafeBytes { SegmentIdentifier($0) }
                    return SegmentSummary(identifier: identifier, size: size, nodes: 0, digest: Digest())
                }
                return real + none
            })
        }
        let found = try fixture.repository.check()
        #expect(found.sound == [1] && found.problems.count == 8, "\(found.problems)")
    }

    /// No segment is larger, so that sums of sizes, and a size as an `Int`, are numbers.
    @Test(arguments: [0x100_0000_0001, 1 << 63, .max] as [UInt64]) func largerSegmentThanAnyIsDamage(size: UInt64)
        throws
    {
        try make(1)
        try forge(segments: {
            $0.map { SegmentSummary(identifier: $0.identifier, size: size, nodes: $0.nodes, digest: $0.digest) }
        })
        expect(throws: BackupError.damagedObject) { try fixture.repository.generations() }
        expect(throws: BackupError.damagedObject) { try fixture.backUp() }
        #expect(try fixture.repository.check().sound == [1])
    }

    @Test(.timeLimit(.minutes(Extent.minutesOfAHang))) func endlessTreeIsRefused() throws {
        try make(1)
        let storage = fixture.repository.storage
        let writer = SegmentWriter(storage, repository: try fixture.repository.identifier())
        let hash = try Cryptography.SHA256()
        // A node of each level, which is all of the level.
        var reference = BlockReference.zeros
        for _ in 1...5 {
            let node = BlockReference.node(of: Array(repeating: reference, count: BlockTree.fanOut))
            reference = try writer.append(node: node, hash.digest(of: node))
        }
        let root = BlockReference.node(of: [reference, reference])
        reference = try writer.append(node: root, hash.digest(of: root))
        try writer.finish()
        try writer.store()
        try forge(size: 1 << 48, root: { _ in reference }, segments: { _ in writer.segments })
        let found = try fixture.repository.check()
        #expect(
            found.sound == [1] && found.problems.count == 1 && found.problems[0].hasPrefix("generation 2 cannot be")
        )
        let name = try #require(writer.segments.first).identifier.name
        #expect(throws: BackupError(.damagedObject, path: name)) {
            try DatabaseFile(path: fixture.directory.file("restored.db")).restore(from: fixture.repository)
        }
        // It stops no backup.
        #expect(try fixture.backUp().warnings.first == .lost(generation: 2, objects: [name]))
    }

    @Test func farNumberIsReportedAsGap() throws {
        try make(1)
        try forge(number: Manifest.highestNumber)
        let problems = try fixture.repository.check().problems
        #expect(problems.contains("missing, and not pruned: generations 2 to 1099511627775"))
    }
}

extension BlockTree {
    fileprivate func all() throws -> [BlockReference] { try (0..<blocks.nodeCount).flatMap(blocks.node) }

    fileprivate func block(_ index: Int) throws -> BlockReference { try all()[index] }
}
