import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

@Suite struct RepositoryCheckTests {
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

    /// Adds a generation that somebody without the key made of the newest one.
    private func forge(
        number: UInt64? = nil,
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
            databaseSize: newest.manifest.databaseSize,
            storedSize: 0,
            root: root(newest.manifest.root),
            segments: segments(newest.manifest.segments)
        )
        let stored = try StoredManifest(manifest, nil)
        try fixture.repository.storage.add("generations/" + stored.name, stored.file)
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
        let block = tree.blocks[5]
        tree.set(BlockReference(segment: block.segment, offset: block.offset, digest: Digest()), level: 0, index: 5)
        // The nodes above it have the right digests.
        let writer = SegmentWriter(storage, repository: newest.repository)
        let hash = try OpenSSL.SHA256()
        for level in 1..<tree.levels.count {
            for index in tree.levels[level].indices {
                let node = tree.node(level: level, index: index)
                tree.set(try writer.append(node: node, hash.digest(of: node)), level: level, index: index)
            }
        }
        try writer.finish()
        try writer.store()
        try forge(root: { _ in tree.root }, segments: { $0 + writer.segments })
        let found = try fixture.repository.check()
        #expect(found.sound == [1, 2])
        #expect(found.problems == ["generation 3 cannot be restored: \(BackupError.damagedObject(block.segment.name))"])
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
        for size in [UInt64(Int64.max), .max] {
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

    @Test func farNumberIsReportedAsGap() throws {
        try make(1)
        try forge(number: .max)
        let problems = try fixture.repository.check().problems
        #expect(problems.contains("missing, and not pruned: generations 2 to 18446744073709551614"))
    }
}
