import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Keys that are retired, and the record of them.
extension KeyringTests {
    @Test func rotationDropsNoRetiredKey() throws {
        let unlocked = try make()
        var keys: [DatabaseKey] = []
        let salt = Array<UInt8>(repeating: 7, count: 16)
        try unlocked.withLock { try $0.note(salt: salt) }
        for _ in 0..<255 {
            keys.insert(try unlocked.databaseKey(), at: 0)
            try unlocked.withLock { locked in
                _ = try locked.beginRotation()
                try locked.finishRotation(salt: salt)
            }
        }
        let last = try unlocked.databaseKey()
        #expect(throws: KeyringError(.full, path: keyring.path)) {
            try unlocked.withLock { _ = try $0.beginRotation() }
        }
        #expect(try unlocked.databaseKey() == last)
        #expect(try unlocked.retiredKeys().map(\.key).elementsEqual(keys, by: ==))
        try unlocked.withLock { try $0.adopt(keys[254], salt: salt) }
        #expect(try unlocked.databaseKey() == keys[254])
        #expect(try unlocked.retiredKeys().first.map { try $0.key == last } == true)
        try unlocked.forgetOlderKeys()
        #expect(try unlocked.content().olderKeyCount == 0)
        #expect(throws: KeyringError(.otherDatabase, path: keyring.path)) {
            try unlocked.withLock { try $0.adopt(keys[18], salt: salt) }
        }
        try unlocked.withLock { _ = try $0.beginRotation() }
    }

    @Test func unusedRetiredKeyIsDroppedFirst() throws {
        let unlocked = try make()
        let first = try unlocked.databaseKey()
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.finishRotation(salt: Array(repeating: 1, count: 16))
            try locked.note(salt: Array(repeating: 1, count: 16))
        }
        let second = try unlocked.databaseKey()
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.finishRotation(salt: Array(repeating: 1, count: 16))
            for _ in 0..<300 {
                _ = try locked.beginRotation()
                try locked.cancelRotation()
            }
        }
        let keys = try unlocked.retiredKeys().map(\.key)
        #expect(try keys.count == 255 && keys.contains { try $0 == second })
        // The first had no salt noted: nothing says that a file was under it.
        #expect(try !keys.contains { try $0 == first })
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.cancelRotation(wasUsed: false)
        }
        #expect(try unlocked.retiredKeys().map(\.key).elementsEqual(keys, by: ==))
    }

    @Test func rotationHoldsBothKeysUntilItEnds() throws {
        let unlocked = try make()
        let old = try unlocked.databaseKey()
        let salt = Array<UInt8>(repeating: 7, count: 16)
        try unlocked.withLock { locked in
            try locked.note(salt: salt)
            let next = try locked.beginRotation()
            expect(throws: KeyringError.rotationPending) { _ = try unlocked.databaseKey() }
            let keys = try unlocked.databaseKeys()
            #expect(try keys.current == old && #require(keys.next) == next && !(next == old))
            expect(throws: KeyringError.rotationPending) { try locked.beginRotation() }
            try locked.finishRotation(salt: Array(repeating: 8, count: 16))
            #expect(try unlocked.databaseKey() == next)
        }
        let content = try unlocked.content()
        #expect(content.retired.map(\.key.salt) == [salt])
        #expect(try unlocked.retiredKeys().map(\.key).elementsEqual([old], by: ==))
        #expect(try unlock(.passphrase("first")).databaseKey() == unlocked.databaseKey())
    }

    @Test func cancelledRotationLeavesOldKey() throws {
        let unlocked = try make()
        let old = try unlocked.databaseKey()
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.cancelRotation()
        }
        #expect(try unlocked.databaseKey() == old)
        #expect(throws: KeyringError(.noRotationPending, path: keyring.path)) {
            try unlocked.withLock { try $0.finishRotation(salt: []) }
        }
    }
}
