import TestSupport
import Testing

@testable import CipherDB

/// What an engine does after a wrong MAC is tried, once in each process.
@Suite struct DamageBehaviourTests {
    @Test func behaviourOfThisEngineIsKnown() throws {
        let version = try #require(Engine.current.sqlcipherVersion)
        let behaviour = try DamageBehaviour.ofThisEngine.get()
        #expect(behaviour.detection == Engine.current.damageDetection)
        // As measured, on the engines of the matrix.
        switch version.split(separator: " ").first {
        case "3.4.1", "4.6.1": #expect(behaviour == DamageBehaviour(detection: .pager, isLasting: false))
        case "4.12.0": #expect(behaviour == DamageBehaviour(detection: .pager, isLasting: true))
        case "4.19.0": #expect(behaviour == DamageBehaviour(detection: .codec, isLasting: true))
        default: #expect(behaviour.detection != .none)
        }
    }

    @Test func engineWithoutSignIsRefused() {
        for (before, after) in [(nil, nil), (CodecStatus.works, CodecStatus.works), (.failed, .failed), (.works, nil)] {
            expect(throws: KeyError.engineHidesDamage) {
                _ = try DamageBehaviour.concluded(pagerFails: false, codec: (before, after), isLasting: true)
            }
        }
        #expect(throws: Never.self) {
            _ = try DamageBehaviour.concluded(pagerFails: false, codec: (.works, .failed), isLasting: true)
            _ = try DamageBehaviour.concluded(pagerFails: true, codec: (nil, nil), isLasting: false)
        }
    }

    @Test func proofLeavesNoFile() throws {
        let directory = try TemporaryDirectory()
        let memory = try #require(MemoryFile())
        let connection = try memory.open()
        try connection.execute("PRAGMA journal_mode = OFF; CREATE TABLE t (a)")
        connection.close()
        #expect(memory.bytes.count >= 1024 && directory.names.isEmpty)
    }
}
