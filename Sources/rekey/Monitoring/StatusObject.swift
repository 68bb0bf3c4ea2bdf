import CipherDB
import Foundation
import Rekeying

/// A check as `status` prints it in JSON.
struct StatusObject: Encodable {
    private let check: DatabaseCheck

    init(_ check: DatabaseCheck) {
        self.check = check
    }

    private enum Key: CodingKey {
        case state, encrypted, verified, ok, exitStatus, size, fileType, checked, seconds, error, message, keyring,
            keyringError
    }

    func encode(to encoder: any Encoder) throws {
        // The members of a verification are the same as `verify` prints.
        if let found = check.verification {
            try VerificationObject(found, keyRetired: check.keyRetired).encode(to: encoder)
        }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(check.state.rawValue, forKey: .state)
        try container.encode(check.isEncrypted, forKey: .encrypted)
        try container.encode(check.isVerified, forKey: .verified)
        try container.encode(check.status == .done, forKey: .ok)
        try container.encode(check.status.code, forKey: .exitStatus)
        try container.encodeIfPresent(check.inspection?.size, forKey: .size)
        try container.encodeIfPresent(check.inspection?.fileType, forKey: .fileType)
        try container.encode(check.ended.formatted(.iso8601), forKey: .checked)
        try container.encode(check.seconds, forKey: .seconds)
        if let error = check.error {
            try container.encode(Answer.name(of: error), forKey: .error)
            try container.encode(check.message, forKey: .message)
        }
        switch check.keyring {
        case (let path, .success(let content))?:
            try container.encode(KeyringJSON(content, path: path), forKey: .keyring)
        case (_, .failure(let error))?: try container.encode("\(error)", forKey: .keyringError)
        case nil: break
        }
    }
}
