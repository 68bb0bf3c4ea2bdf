import CipherDB
import FlyingFox
import Foundation

/// A small HTTP service that keeps its data in an encrypted pool.
///
///     NotesService DATABASE PASSPHRASE-FILE [PORT]    serves until it is killed
///     NotesService --load                             serves in a temporary folder, under load, and checks what came of it
@main
struct NotesService {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--load"] { return try await Load.run() }
        guard arguments.count >= 2, let port = UInt16(arguments.count > 2 ? arguments[2] : "8080") else {
            print("usage: NotesService DATABASE PASSPHRASE-FILE [PORT] | --load")
            exit(64)
        }
        let key = try KeySource.file(path: arguments[1]).readPassphrase()
        let server = try await NotesService(store: NoteStore(path: arguments[0], key: key)).server(port: port)
        print("http://localhost:\(port)/notes")
        try await server.run()
    }

    let store: NoteStore

    /// POST /notes, GET /notes?author=&limit=, GET and DELETE /notes/:id.
    func server(port: UInt16) async -> HTTPServer {
        // For this machine only: for others there is to be TLS before it.
        let server = HTTPServer(address: .loopback(port: port), logger: .disabled)
        await server.appendRoute("POST /notes") { request in
            guard let note = try? JSONDecoder().decode(NoteStore.Note.self, from: try await request.bodyData) else {
                return HTTPResponse(statusCode: .badRequest)
            }
            do {
                return try json(await store.add(note), .created)
            } catch let error as DatabaseError where error.code.primary == .constraint {
                return HTTPResponse(statusCode: .badRequest)
            }
        }
        await server.appendRoute("GET /notes") { request in
            guard let author = request.query["author"] else { return HTTPResponse(statusCode: .badRequest) }
            let limit = request.query["limit"].flatMap { Int($0) } ?? 50
            return try json(await store.notes(by: author, limit: min(max(limit, 0), 500)))
        }
        await server.appendRoute("GET /notes/:id") { request in
            guard let id = request.routeParameters["id"].flatMap({ Int64($0) }), let note = try await store.note(id)
            else {
                return HTTPResponse(statusCode: .notFound)
            }
            return try json(note)
        }
        await server.appendRoute("DELETE /notes/:id") { request in
            guard let id = request.routeParameters["id"].flatMap({ Int64($0) }), try await store.delete(id) else {
                return HTTPResponse(statusCode: .notFound)
            }
            return HTTPResponse(statusCode: .noContent)
        }
        return server
    }

    private func json(_ value: some Encodable, _ status: HTTPStatusCode = .ok) throws -> HTTPResponse {
        HTTPResponse(
            statusCode: status,
            headers: [.contentType: "application/json"],
            body: try JSONEncoder().encode(value)
        )
    }
}
