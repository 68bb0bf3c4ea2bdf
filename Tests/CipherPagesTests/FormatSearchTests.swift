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
}
