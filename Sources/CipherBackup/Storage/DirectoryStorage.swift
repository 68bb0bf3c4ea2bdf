internal import CipherSystem
internal import SQLiteFormat

/// A repository in a directory.
struct DirectoryStorage: BackupStorage {
    let path: String
    var description: String { path }
    /// The directories of objects.
    static let directories = ["segments", "generations", "prunes", StoredKeyring.directory]

    func path(of name: String) -> String { path + "/" + name }

    /// Makes the directories, for their owner alone.
    func prepare() throws {
        try checkLocation()
        try checkForOtherFiles()
        for directory in [path] + DirectoryStorage.directories.map(path(of:)) {
            do {
                try FileCalls.createDirectory(directory)
            } catch .exists {
                guard try BackupError.naming(directory, Platform.status(of: directory)).kind == .directory else {
                    throw BackupError(.notARepository, path: path)
                }
            } catch {
                throw BackupError(.system, path: directory, errno: error.code)
            }
        }
        try checkDirectories()
    }

    /// Throws where a directory of objects is a link: what is removed would be another repository's.
    private func checkDirectories() throws(BackupError) {
        for directory in DirectoryStorage.directories.map(path(of:)) {
            guard let status = try? Platform.statusOfLink(directory) else { continue }
            guard status.kind == .directory else {
                throw BackupError(.system, path: directory, errno: Errno.notADirectory.code)
            }
        }
    }

    /// An empty name would be that of the root directory.
    private func checkLocation() throws(BackupError) {
        if path.isEmpty { throw BackupError(.unusableLocation, path: path) }
    }

    /// Throws where the directory has files of others and is no repository. A run that was killed may have left it without the marker.
    private func checkForOtherFiles() throws {
        guard let names = try? FileCalls.names(beside: path + "/"), !names.contains(RepositoryMarker.name) else {
            return
        }
        let known = [".", "..", "lost+found"] + DirectoryStorage.directories
        guard names.allSatisfy({ known.contains($0) || TemporaryName.backup.matchesAny($0) }) else {
            throw BackupError(.otherFiles, path: path)
        }
    }

    func names(in directory: String) throws -> [String] {
        do {
            return try FileCalls.names(beside: path(of: directory) + "/").filter { !$0.hasPrefix(".") }.sorted()
        } catch .noSuchFile {
            return []
        } catch {
            throw BackupError(.system, path: path(of: directory), errno: error.code)
        }
    }

    func sizes(in directory: String) throws -> [String: Int64] {
        var sizes: [String: Int64] = [:]
        for name in try names(in: directory) {
            let place = path(of: directory + "/" + name)
            do {
                sizes[name] = try Platform.status(of: place).size
            } catch .noSuchFile {
                // A link that leads nowhere.
            } catch {
                throw BackupError(.system, path: place, errno: error.code)
            }
        }
        return sizes
    }

    /// The caller has the lock.
    func settledNames(in directory: String) throws -> [String] { try names(in: directory) }

    func open(_ name: String, from offset: UInt64, most: UInt64) throws -> any PageSource {
        try checkLocation()
        do {
            return try FileBytes(path: path(of: name))
        } catch let error as Errno {
            if error == .noSuchFile || error == .notADirectory {
                throw BackupError(.missingObject, path: path(of: name))
            }
            throw BackupError(.system, path: path(of: name), errno: error.code)
        } catch is NotARegularFile {
            throw BackupError(.damagedObject, path: path(of: name))
        }
    }

    func newObject(_ name: String) throws -> NewObject {
        try NewObject(name, beside: path(of: name))
    }

    func add(_ object: NewObject) throws {
        let place = path(of: object.name)
        try BackupError.naming(object.file.path, object.file.sync())
        try BackupError.naming(place, object.file.publish(as: place))
        try BackupError.naming(place, FileCalls.removeIfThere(object.file.path))
        object.markAdded()
        try BackupError.naming(place, FileCalls.syncDirectory(of: place))
    }

    func remove(_ name: String) throws {
        try BackupError.naming(path(of: name), FileCalls.removeIfThere(path(of: name)))
    }

    func locked<Result>(exclusively: Bool, _ body: () throws -> Result) throws -> Result {
        try checkLocation()
        let marker = path(of: RepositoryMarker.name)
        let descriptor: Int32
        do {
            descriptor = try Platform.openForReading(marker)
        } catch  where error == .noSuchFile || error == .notADirectory {
            guard !exclusively, (try? names(in: StoredManifest.directory))?.isEmpty == false else {
                throw BackupError(.notARepository, path: path)
            }
            // Without it nobody stores or removes anything.
            try checkDirectories()
            return try body()
        } catch {
            throw BackupError(.system, path: marker, errno: error.code)
        }
        let owner = OwnerProcess()
        defer { FileCalls.unlockAndClose(descriptor, of: owner) }
        try checkDirectories()
        let wait = LockWait.current(or: .seconds(5))
        while try !BackupError.naming(marker, FileCalls.tryLockOwnFile(descriptor, marker, exclusively: exclusively)) {
            guard wait.mayTryAgain() else { throw BackupError(.busy, path: path) }
        }
        if exclusively { removeLeftovers() }
        return try body()
    }

    /// Removes what killed runs left. Only the holder of the lock makes objects.
    private func removeLeftovers() {
        for directory in DirectoryStorage.directories {
            for name in (try? FileCalls.names(beside: path(of: directory) + "/")) ?? []
            where TemporaryName.backup.matchesAny(name) {
                TemporaryFile.removeIfAbandoned(path(of: directory) + "/" + name)
            }
        }
    }
}
