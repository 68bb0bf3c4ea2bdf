internal import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import Foundation

extension FMDatabase {
    /// A database of a class that a queue or pool names; nil, and a line on standard error, where it cannot be made.
    static func ofClass(_ name: AnyClass, path: String?) -> FMDatabase? {
        if let type = name as? any FMDatabaseClass.Type { return type.init(path: path) }
        if name == FMDatabase.self { return FMDatabase(path: path) }
        log("databaseClass(): \(name) must be an FMDatabase that says FMDatabaseClass")
        return nil
    }

    static func configuration(vfs: String?, allowsPlaintext: Bool, format: CipherFormat? = nil) -> Configuration {
        Configuration {
            // FMDB knows no other way to a file than to open it and perhaps give a key.
            $0.allowsPlaintext = allowsPlaintext
            $0.busyTimeout = .seconds(2)
            // As in FMDB, and in the files of programs that come from there.
            $0.enforcesForeignKeys = false
            $0.trustsSchema = true
            $0.storage.dates = .secondsSince1970
            $0.vfs = vfs
            $0.format = format
        }
    }

    func openFile(_ flags: Int32, _ vfs: String?) -> Bool {
        attempt {
            let present = database.configuration
            let isInMemory = flags & SQLITE_OPEN_MEMORY != 0 || !isOfFile
            let path = isInMemory ? nil : databasePath
            let isOther = vfs != present.vfs || present.allowsPlaintext == requiresKey || present.format != nil
            if !database.isOpen, isOther || path != database.path {
                replaceDatabase(path, FMDatabase.configuration(vfs: vfs, allowsPlaintext: !requiresKey))
            }
            openFlags = OpenFlags(rawValue: flags & ~SQLITE_OPEN_WITHOUT_MEANING)
            try database.open(flags: openFlags)
            rememberInterrupter()
        }
    }

    /// Whether its path is one of a file, also where it is opened in memory now.
    var isOfFile: Bool {
        // SQLCipher 4 takes the second for a URI.
        guard let databasePath else { return false }
        return databasePath != ":memory:" && !databasePath.hasPrefix("file::memory:")
    }

    /// Opens the file again for a key that is right in another format than the engine's own.
    func reopen(as format: CipherFormat) throws {
        let present = database.configuration
        replaceDatabase(
            database.path,
            FMDatabase.configuration(vfs: present.vfs, allowsPlaintext: present.allowsPlaintext, format: format)
        )
        try database.open(flags: openFlags)
    }

    private func replaceDatabase(_ path: String?, _ configuration: Configuration) {
        let interval = maxBusyRetryTimeInterval
        let replaced = database
        database = Database(path: path, configuration: configuration, turn: turn)
        database.takeFunctions(of: replaced)
        maxBusyRetryTimeInterval = interval
        database.statementCacheCapacity = shouldCacheStatements ? 100 : 0
        setDateFormat(dateFormatter)
        installTrace()
    }

    func rememberInterrupter() {
        let present = database.interrupter
        interrupter.withLock { $0 = present }
    }

    func installTrace() {
        guard traceExecution else { return database.setTrace(nil) }
        database.setTrace { event in
            if case .began(let sql) = event { FMDatabase.log("executes: \(sql)") }
        }
    }

    static func log(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("FMDB: \(text)\n".utf8))
    }
}
