import CipherKeys
import Testing

@testable import CipherPages

@Suite struct FormatSearchTests {
    @Test func expectedFormatComesFirst() {
        let formats = FormatSearch(preferred: [.v3], iterations: [77]).formats(isPassphrase: true)
        #expect(formats.first == .v3)
        #expect(formats[1].iterations == 77)
        #expect(formats.firstIndex(of: .v4)! < formats.count - 100)
        #expect(Set(formats).count == formats.count)
    }

    @Test func oneDerivationCoversAllMACs() {
        let formats = FormatSearch(preferred: []).formats(isPassphrase: true)
        var derivations: [CipherFormat] = []
        for format in formats where !derivations.contains(where: { $0.hasSameDerivation(as: format) }) {
            derivations.append(format)
        }
        #expect(derivations.count == 9)
        for format in CipherFormat.standard { #expect(formats.contains(format)) }
    }

    @Test func rawKeyNeedsMACsUnlessNamed() {
        #expect(FormatSearch(preferred: [.v4]).formats(isPassphrase: false).allSatisfy { $0.pageAuthentication != nil })
        #expect(FormatSearch(preferred: [.v1]).formats(isPassphrase: false).first == .v1)
    }

    @Test func onlyFormat1IsAcceptedWithoutMACs() throws {
        let search = FormatSearch(preferred: [.v4], iterations: [4000, 77])
        let unauthenticated = search.formats(isPassphrase: true).filter { $0.pageAuthentication == nil }
        #expect(unauthenticated.filter(search.accepts) == [.v1] && unauthenticated.count == 12)
        let named = try FormatSearch(preferred: [.v4.changed { $0.pageAuthentication = nil }])
        #expect(named.formats(isPassphrase: true).allSatisfy(named.accepts))
    }

    /// A salt that is XORed with the difference of two masks is damaged, and not another format.
    @Test func rawKeyNeedsUsualMaskUnlessNamed() throws {
        #expect(FormatSearch(preferred: [.v4]).formats(isPassphrase: false).allSatisfy { $0.macSaltMask == 0x3a })
        #expect(FormatSearch(preferred: [.v4]).formats(isPassphrase: true).contains { $0.macSaltMask == 0 })
    }
}
