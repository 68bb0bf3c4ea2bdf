import CipherKeys
import CipherSystem
import TestSupport
import Testing

@Suite struct PathBytesTests {
    @Test func everyFileNameRoundTrips() {
        var random = SplitMix(22)
        var names: [[UInt8]] =
            (0...255).map { [$0] } + [
                [], Array("notes.db".utf8), Array("Füße 👩‍👧.db".utf8), [0x6F, 0xFF, 0x2E], [0xC3], [0xC3, 0x28],
                [0xE2, 0x82],
                [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF],
                Array("\u{10FEFF}\u{10FE80}\u{10FE7F}".utf8),
                [0xF4] + Array("\u{10FEFF}".utf8) + [0xBB],
            ]
        for _ in 0..<500 {
            names.append(
                (0..<Int.random(in: 1...12, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            )
        }
        for name in names { #expect(String(pathBytes: name).pathBytes == name) }
        let texts = names.map { Array(String(pathBytes: $0).utf8) }
        #expect(Set(texts).count == Set(names).count)
    }

    @Test func validUTF8NameIsUnchanged() {
        for name in ["", "notes.db", "Füße 👩‍👧.db", "e\u{301}", "\u{FFFD}", "\u{10FFFF}"] {
            #expect(String(pathBytes: name.utf8).utf8.elementsEqual(name.utf8))
        }
        #expect(String(pathBytes: [0x6F, 0xFF, 0x2E, 0xC3]).withoutPathBytes == "o\u{FFFD}.\u{FFFD}")
    }

    @Test func pathIsSplitByBytes() {
        #expect(FileCalls.directory(of: "a/\u{301}b") == "a" && FileCalls.name(of: "a/\u{301}b") == "\u{301}b")
        #expect(FileCalls.sibling("c", of: "a/\u{301}b") == "a/c" && FileCalls.sibling("c", of: "b") == "c")
        #expect(FileCalls.directory(of: "/b") == "/" && FileCalls.directory(of: "b") == ".")
    }
}
