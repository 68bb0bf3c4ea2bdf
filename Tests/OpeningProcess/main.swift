import CipherDB
import Foundation

// A process of StorageFailureTests and CreationTests.
//
//     OpeningProcess KIND DATABASE    opens the database when DATABASE.go is there, and adds a row
//     OpeningProcess hold DATABASE    has a transaction that writes until its input ends
//     OpeningProcess descriptors DATABASE    opens it without a descriptor left, and prints the error

let bytes = try SecretBytes(copying: (0..<32).map { UInt8($0) })
let key = try DatabaseKey.raw(bytes)
let secret = try KeyringSecret.keyFile(bytes)
let (kind, path) = (CommandLine.arguments[1], CommandLine.arguments[2])

func add(to database: Database) throws {
    try database.executeUpdate("CREATE TABLE IF NOT EXISTS processes (number)")
    try database.executeUpdate("INSERT INTO processes VALUES (?)", Int(getpid()))
}

// At the top level the synchronous ones would be taken.
func addAsynchronously(_ kind: String) async throws {
    if kind == "asyncQueue" {
        try await DatabaseQueue(path: path, key: key, configuration: wait).inTransaction { try add(to: $0) }
    } else {
        try await DatabasePool(path: path, key: key, configuration: wait).write { try add(to: $0) }
    }
}

let wait = Configuration { $0.busyTimeout = .seconds(30) }
switch kind {
case "hold":
    let database = Database(path: path)
    try database.open(key: key)
    try database.beginTransaction()
    try database.executeUpdate("CREATE TABLE held (number)")
    FileHandle.standardOutput.write(Data("held\n".utf8))
    _ = FileHandle.standardInput.readDataToEndOfFile()
    database.close()
case "descriptors":
    let pool = try DatabasePool(path: path, key: key)
    var limit = rlimit()
    getrlimit(numericCast(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 32
    setrlimit(numericCast(RLIMIT_NOFILE.rawValue), &limit)
    while open("/dev/null", O_RDONLY) >= 0 {}
    do {
        try pool.read { _ = try $0.int(forQuery: "SELECT count(*) FROM sqlite_master") }
    } catch {
        print(error)
    }
default:
    let test = getppid()
    while access(path + ".go", F_OK) != 0 {
        // The test was ended.
        if getppid() != test { exit(1) }
        usleep(2000)
    }
    switch kind {
    case "queue": try DatabaseQueue(path: path, key: key, configuration: wait).inTransaction { try add(to: $0) }
    case "pool": try DatabasePool(path: path, key: key, configuration: wait).write(add)
    case "asyncQueue", "asyncPool": try await addAsynchronously(kind)
    case "keyring":
        let database = Database(path: path, configuration: wait)
        try database.open(key: .keyring(Keyring(besideDatabase: path), unlockedBy: secret))
        try database.inTransaction { try add(to: $0) }
    case "keyringPool":
        let keyring = Keyring(besideDatabase: path)
        try DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret), configuration: wait).write(add)
    default:
        let database = Database(path: path, configuration: wait)
        try database.open(key: key)
        try database.inTransaction { try add(to: $0) }
    }
}
