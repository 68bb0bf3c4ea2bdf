// The keychain's calls, as far as the package uses them; nothing here runs. ziglang has no header of Security, and no bridge to
// Objective-C exists here: what CoreFoundation has a type for is the Swift value that it is made of.
@_exported import Foundation

public typealias OSStatus = Int32
public typealias CFString = String
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = [CFString: Any]
public class CFAllocator {}
public final class CFError: Error {}
public class SecAccessControl {}
public struct SecAccessControlCreateFlags: OptionSet {
    public var rawValue: UInt
    public init(rawValue: UInt) { fatalError() }
    public static var privateKeyUsage: SecAccessControlCreateFlags { fatalError() }
}
public var errSecSuccess: OSStatus { fatalError() }
public var errSecItemNotFound: OSStatus { fatalError() }
public var errSecDuplicateItem: OSStatus { fatalError() }
public var kSecClass: CFString { fatalError() }
public var kSecClassGenericPassword: CFString { fatalError() }
public var kSecAttrService: CFString { fatalError() }
public var kSecAttrAccount: CFString { fatalError() }
public var kSecAttrAccessGroup: CFString { fatalError() }
public var kSecAttrAccessible: CFString { fatalError() }
public var kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { fatalError() }
public var kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString { fatalError() }
public var kSecUseDataProtectionKeychain: CFString { fatalError() }
public var kSecReturnData: CFString { fatalError() }
public var kSecMatchLimit: CFString { fatalError() }
public var kSecMatchLimitOne: CFString { fatalError() }
public var kSecValueData: CFString { fatalError() }
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { fatalError() }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { fatalError() }
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { fatalError() }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?,
    _ protection: CFString,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { fatalError() }
