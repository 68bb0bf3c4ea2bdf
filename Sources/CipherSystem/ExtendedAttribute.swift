internal import CCipherSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What a new file could not get of the one that it is to replace.
package enum AdoptionError: Error {
    /// The owner or the group.
    case ownership(MissingOwnership)
    /// The extended attribute of this name.
    case attribute(String, Errno)
    /// A call of the system failed.
    case system(Errno)

    static func naming<Result>(_ call: @autoclosure () throws(Errno) -> Result) throws(AdoptionError) -> Result {
        do throws(Errno) {
            return try call()
        } catch {
            throw .system(error)
        }
    }
}

/// The extended attributes of files (xattr(7)): those of users, access control lists, and the labels of security modules.
package enum ExtendedAttribute {
    /// Gives a file those of `other`; not what the kernel computes from the content, and no access control list that `other` has not.
    static func copyAll(from other: Int32, to descriptor: Int32) throws(AdoptionError) {
        var name = [CChar](repeating: 0, count: 256)
        guard csystem_copy_attributes(other, descriptor, &name) != 0 else { return }
        let error = Errno(code: errno)
        guard name[0] != 0 else { throw .system(error) }
        throw .attribute(String(pathBytes: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }), error)
    }

    /// How an error names the attribute.
    package static func place(_ name: String, of path: String) -> String { "\(path): extended attribute \(name)" }
}
