internal import CCipherSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The owner and the group of a file, which a new one in its place, or beside it, is to have.
package struct FileOwnership: Equatable, Sendable {
    package let user: UInt32
    package let group: UInt32

    package init(of descriptor: Int32) throws(Errno) {
        var status = stat()
        _ = try Platform.retrying { Int(fstat(descriptor, &status)) }
        self.init(status)
    }

    /// Those of what stands at `path`, links followed.
    package init(of path: String) throws(Errno) {
        var status = stat()
        _ = try Platform.call(path) { Int(stat($0, &status)) }
        self.init(status)
    }

    init(_ status: stat) {
        user = status.st_uid
        group = status.st_gid
    }

    /// Gives them to a file. Throws the `errno` where this process may not.
    func give(to descriptor: Int32) throws(Errno) {
        guard try FileOwnership(of: descriptor) != self else { return }
        _ = try Platform.retrying { Int(fchown(descriptor, user, group)) }
    }

    /// Gives a file as much of them as this process may.
    func giveWhatMayBe(to descriptor: Int32) throws(Errno) {
        do {
            try give(to: descriptor)
        } catch {
            // The group alone: a member of it may.
            _ = try? Platform.retrying { Int(fchown(descriptor, uid_t.max, group)) }
        }
    }

    /// Those that `other` has not; nil where it has both.
    package func missing(in other: FileOwnership) -> MissingOwnership? {
        guard other != self else { return nil }
        return MissingOwnership(
            owner: user == other.user ? nil : Platform.userName(user),
            group: group == other.group ? nil : Platform.groupName(group)
        )
    }

    /// Those that a new file in `directory` could not get, found without making one; nil where it could get both, or where the system
    /// cannot tell before.
    package func missingInNewFile(in directory: String) throws(Errno) -> MissingOwnership? {
        var status = stat()
        _ = try Platform.call(directory) { Int(stat($0, &status)) }
        // New files get the group of such a directory.
        if user == Platform.user, status.st_mode & S_ISGID != 0, status.st_gid == group { return nil }
        guard let trial = Platform.anonymousFile() else { return nil }
        defer { Platform.close(trial) }
        try giveWhatMayBe(to: trial)
        return missing(in: try FileOwnership(of: trial))
    }
}

/// The owner and the group that a file could not get, by their names; numbers where they have none.
package struct MissingOwnership: Equatable, Sendable {
    package let owner: String?
    package let group: String?

    package init(owner: String?, group: String?) {
        self.owner = owner
        self.group = group
    }

    /// As after "cannot get".
    package var names: String {
        [owner.map { "the owner \($0)" }, group.map { "the group \($0)" }].compactMap { $0 }.joined(separator: " and ")
    }

    /// Why a file cannot be replaced, and what to do.
    package var refusal: String {
        "the new file cannot get \(names) of the old one; "
            + (owner == nil
                ? "give the file a group of yours by `chgrp`, or run this as root"
                : "run this as that user, or as root")
    }
}

extension FileCalls {
    /// Gives the file that is to replace the one that is open as `other` all that the system keeps about that one: owner, group,
    /// extended attributes with their access control lists and labels, permissions. Not by a name, which others may give to another
    /// file at any moment.
    package static func adopt(_ descriptor: Int32, from other: Int32, _ path: String) throws(AdoptionError) {
        let old = try AdoptionError.naming(path, ownershipAndMode(of: other, path))
        if try !AdoptionError.naming(path, give(old.ownership, to: descriptor)) {
            let missing = try AdoptionError.naming(path, old.ownership.missing(in: FileOwnership(of: descriptor)))
            throw .ownership(missing ?? MissingOwnership(owner: nil, group: nil))
        }
        try ExtendedAttribute.copyAll(from: other, to: descriptor, path)
        // Last: an access control list has permissions, too, which are the same.
        _ = try AdoptionError.naming(path, Platform.retrying { Int(fchmod(descriptor, old.mode)) })
    }

    private static func ownershipAndMode(
        of descriptor: Int32,
        _ path: String
    ) throws(Errno) -> (ownership: FileOwnership, mode: mode_t) {
        try FaultInjection.check(.adopt, path)
        var status = stat()
        _ = try Platform.retrying { Int(fstat(descriptor, &status)) }
        return (FileOwnership(status), status.st_mode & 0o7777)
    }

    /// Whether this process may.
    private static func give(_ ownership: FileOwnership, to descriptor: Int32) throws(Errno) -> Bool {
        do throws(Errno) {
            try ownership.give(to: descriptor)
            return true
        } catch {
            guard error == .notPermitted else { throw error }
            return false
        }
    }

    /// Gives a new file that holds secrets the owner, the group and the permissions of the file at `other`, links followed, as far as
    /// this process may: it gets no permissions for others, and none for a group that it cannot get.
    package static func adoptWhatMayBe(_ descriptor: Int32, fromFileAt other: String, _ path: String) throws(Errno) {
        try FaultInjection.check(.adopt, path)
        var old = stat()
        _ = try Platform.call(other) { Int(stat($0, &old)) }
        let ownership = FileOwnership(old)
        try ownership.giveWhatMayBe(to: descriptor)
        let hasGroup = try FileOwnership(of: descriptor).group == ownership.group
        _ = try Platform.retrying { Int(fchmod(descriptor, old.st_mode & (hasGroup ? 0o660 : 0o600))) }
    }
}

extension Platform {
    /// The name of a user; the number where it has none.
    package static func userName(_ number: UInt32) -> String {
        guard let entry = getpwuid(number) else { return String(number) }
        return String(pathBytes: pathBytes(entry.pointee.pw_name))
    }

    /// The name of a group; the number where it has none.
    package static func groupName(_ number: UInt32) -> String {
        guard let entry = getgrgid(number) else { return String(number) }
        return String(pathBytes: pathBytes(entry.pointee.gr_name))
    }
}

/// Why a new file does not get all of the one that it is to replace.
package enum AdoptionError: Error {
    /// It cannot get the owner or the group.
    case ownership(MissingOwnership)
    /// A call of the system failed on the file, or the extended attribute, that `place` names.
    case system(Errno, place: String)

    static func naming<Result>(
        _ place: String,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(AdoptionError) -> Result {
        do throws(Errno) {
            return try call()
        } catch {
            throw .system(error, place: place)
        }
    }
}

/// The extended attributes of files (xattr(7)): those of users, access control lists, and the labels of security modules.
private enum ExtendedAttribute {
    /// Gives a file those of `other`; not what the kernel computes from the content, and no access control list that `other` has not.
    static func copyAll(from other: Int32, to descriptor: Int32, _ path: String) throws(AdoptionError) {
        var name = [CChar](repeating: 0, count: 256)
        guard csystem_copy_attributes(other, descriptor, &name) != 0 else { return }
        let error = Errno(code: errno)
        guard name[0] != 0 else { throw .system(error, place: path) }
        let attribute = String(pathBytes: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
        throw .system(error, place: "\(path): extended attribute \(attribute)")
    }
}
