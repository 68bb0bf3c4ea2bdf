import CipherDB
import Foundation
import Hummingbird
import Logging

/// A small HTTP service that keeps its data in an encrypted pool.
///
///     NotesService DATABASE PASSPHRASE-FILE [PORT]    serves until SIGTERM or SIGINT, and closes the pool
///     NotesService --load                             serves in a temporary directory, under load, and checks the answers
///
/// `LOG_LEVEL=trace` logs each statement. Metrics and traces go to the backends that a program bootstraps MetricsSystem and
/// InstrumentationSystem with.
@main
struct NotesService {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        var logger = Logger(label: "notes", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel =
            ProcessInfo.processInfo.environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) } ?? .info
        if arguments == ["--load"] { return try await Load.run(logger) }
        guard arguments.count >= 2, let port = Int(arguments.count > 2 ? arguments[2] : "8080") else {
            print("usage: NotesService DATABASE PASSPHRASE-FILE [PORT] | --load")
            exit(64)
        }
        let key = try KeySource.file(path: arguments[1]).readPassphrase()
        let store = try await NoteStore(path: arguments[0], key: key, logger: logger)
        try await NotesService(store: store, logger: logger).application(port: port).runService()
    }

    let store: NoteStore
    let logger: Logger

    /// The service on this machine's own address: for others there is to be TLS before it.
    func application(
        port: Int,
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        Application(
            router: router(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            // Shut down after the server, so that each request still has its database.
            services: [store.pool],
            onServerRunning: { await onServerRunning($0.localAddress?.port ?? 0) },
            logger: logger
        )
    }

    /// POST /notes, GET /notes?author=&limit=, GET and DELETE /notes/:id.
    private func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.addMiddleware {
            TracingMiddleware()
            MetricsMiddleware()
            LogRequestsMiddleware(.debug)
        }
        router.post("notes") { request, context in
            let note = try await request.decode(as: NoteStore.Note.self, context: context)
            do {
                return EditedResponse(status: .created, response: try await store.add(note))
            } catch let error as DatabaseError where error.code == .constraintCheck {
                throw HTTPError(.badRequest, message: "a note has 1 to 10,000 characters")
            }
        }
        router.get("notes") { request, _ in
            let author = try request.uri.queryParameters.require("author")
            let limit = request.uri.queryParameters.get("limit", as: Int.self) ?? 50
            return try await store.notes(by: author, limit: min(max(limit, 0), 500))
        }
        router.get("notes/:id") { _, context in
            let id = try context.parameters.require("id", as: Int64.self)
            guard let note = try await store.note(id) else { throw HTTPError(.notFound) }
            return note
        }
        router.delete("notes/:id") { _, context -> HTTPResponse.Status in
            try await store.delete(context.parameters.require("id", as: Int64.self)) ? .noContent : .notFound
        }
        return router
    }
}

extension NoteStore.Note: ResponseCodable {}
