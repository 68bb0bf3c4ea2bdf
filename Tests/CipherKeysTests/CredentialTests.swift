import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Credentials of systemd; one at a time, because a variable of the environment names their directory.
@Suite(.serialized) struct CredentialTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func credentialIsReadFromSystemdsDirectory() throws {
        _ = try directory.write("of the service\n".utf8, to: "vault")
        setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
        defer { unsetenv("CREDENTIALS_DIRECTORY") }
        #expect(try KeySource.credential("vault").readPassphrase() == .passphrase("of the service"))
        #expect(throws: KeySourceError(.system, path: directory.file("none"), errno: ENOENT)) {
            try KeySource.credential("none").read()
        }
        for name in ["", "..", "../x", "a/b"] {
            #expect(throws: KeySourceError(.missing, path: "credential \(name)")) {
                try KeySource.credential(name).read()
            }
        }
    }

    @Test func accessibleCredentialIsRefused() throws {
        setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
        defer { unsetenv("CREDENTIALS_DIRECTORY") }
        chmod(directory.path, 0o750)
        let path = try directory.write("secret".utf8, to: "vault")
        func refusal(mode: Int) -> ErrorCode<KeySourceError>? {
            chmod(path, mode_t(mode))
            do {
                _ = try KeySource.credential("vault").read()
                return nil
            } catch {
                return (error as? KeySourceError)?.code
            }
        }
        #expect(refusal(mode: 0o400) == nil)
        for mode in [0o604, 0o644, 0o660, 0o450] { #expect(refusal(mode: mode) == .othersCanRead) }
        // As systemd makes it, where this user is root.
        #expect(refusal(mode: 0o440) == (geteuid() == 0 ? nil : .othersCanRead))
        chmod(directory.path, 0o770)
        #expect(refusal(mode: 0o440) == .othersCanRead)
        let elsewhere = try TemporaryDirectory()
        symlink(try elsewhere.write("other".utf8, to: "key"), directory.file("link"))
        #expect(throws: KeySourceError(.leadsElsewhere, path: directory.file("link"))) {
            try KeySource.credential("link").read()
        }
        if chown(path, 65534, 65534) == 0 { #expect(refusal(mode: 0o600) == .ofAnotherUser) }
    }
}
