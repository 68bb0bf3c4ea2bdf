import CipherDB
import Foundation
import Logging
import Rekeying
import ServiceLifecycle

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Clients that write and read at once, while the database gets another key and is backed up.
enum Load {
    private static let clients = 8
    private static let notes = 30

    static func run(_ logger: Logger) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try await NoteStore(path: directory.path + "/notes.db", key: .random(), logger: logger)
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let repository = directory.path + "/backups"
        let backup = store.backup(to: repository, logger)
        let service = NotesService(store: store, backup: backup, logger: logger)
        let application = service.application(port: 0) { running.yield($0) }
        let group = ServiceGroup(services: [application], logger: logger)
        let serving = Task { try await group.run() }
        guard let port = await ports.first(where: { _ in true }) else { throw Failure("no port") }
        let key = try DatabaseKey.random()
        try await load(store, port, newKey: key)
        if let problem = await Health.problem(port: port) { throw Failure(problem) }
        await group.triggerGracefulShutdown()
        try await serving.value
        guard await Health.problem(port: port) != nil else { throw Failure("a service that was shut down is healthy") }
        guard !FileManager.default.fileExists(atPath: directory.path + "/notes.db-wal") else {
            throw Failure("the service left a write-ahead log")
        }
        print("the service was shut down, and closed its pool")
        try await restore(repository, to: directory.path + "/restored.db", key)
    }

    /// The newest generation has what was written last.
    private static func restore(_ repository: String, to path: String, _ key: DatabaseKey) async throws {
        let done = try DatabaseFile(path: path).restore(from: BackupRepository(repository), key: key)
        guard done.proof?.isManifestAuthenticated == true else { throw Failure("the backup is not proved") }
        let restored = try await DatabaseQueue(path: path, key: key)
        let left = try await restored.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
        try await restored.close()
        guard left == clients * notes / 2 else { throw Failure("the backup has \(left ?? 0) notes") }
        print("generation \(done.generation.number) of the backup has all notes")
    }

    private static func load(_ store: NoteStore, _ port: Int, newKey: DatabaseKey) async throws {
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask { try await use(URL(string: "http://localhost:\(port)/notes")!, "author \(client)") }
            }
            // In the midst of it: half of the notes are deleted again. Requests wait for the end of it, and none fails.
            group.addTask {
                while try await store.count() < clients * notes / 4 { try await Task.sleep(for: .milliseconds(1)) }
                try await store.pool.rekey(newKey)
                print("the key was changed after \(try await store.count()) notes")
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let left = try await store.count()
        guard left == clients * notes / 2 else { throw Failure("\(left) notes are left") }
        let requests = clients * (notes * 3 + notes / 2)
        print("\(requests) requests of \(clients) clients in \(Int(seconds * 1000)) ms; every answer was right")
    }

    /// Adds notes, reads each and all, and deletes every second one.
    private static func use(_ service: URL, _ author: String) async throws {
        for number in 0..<notes {
            let note = NoteStore.Note(author: author, text: "note \(number) of \(author)")
            let made: NoteStore.Note = try await ask("POST", service, note, expecting: 201)
            guard let id = made.id else { throw Failure("a note without a number") }
            let one = service.appendingPathComponent("\(id)")
            let read: NoteStore.Note = try await ask("GET", one, expecting: 200)
            guard read.text == note.text, read.author == author else { throw Failure("another note than was added") }
            let query = service.appending(queryItems: [URLQueryItem(name: "author", value: author)])
            let all: [NoteStore.Note] = try await ask("GET", query, expecting: 200)
            guard all.first?.id == id else { throw Failure("the newest note is not the first") }
            if number % 2 == 1 { _ = try await send("DELETE", one, nil, expecting: 204) }
        }
    }

    private static func ask<Answer: Decodable>(
        _ method: String,
        _ url: URL,
        _ body: NoteStore.Note? = nil,
        expecting status: Int
    ) async throws -> Answer {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Answer.self, from: try await send(method, url, body, expecting: status))
    }

    private static func send(_ method: String, _ url: URL, _ body: NoteStore.Note?, expecting status: Int) async throws
        -> Data
    {
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let body { request.httpBody = try JSONEncoder().encode(body) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let code = (response as? HTTPURLResponse)?.statusCode
        guard code == status else { throw Failure("\(method) \(url.path) answered \(code ?? 0)") }
        return data
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}
