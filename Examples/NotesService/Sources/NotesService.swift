import CipherDB
import Foundation
import Hummingbird
import Logging
import Metrics
import Rekeying

/// A small HTTP service that keeps its data in an encrypted pool.
///
///     NotesService DATABASE PASSPHRASE-FILE [PORT [ADDRESS]]    serves until SIGTERM or SIGINT, and closes the pool
///     NotesService --health [PORT]                              whether the service on this machine can read and write its database
///     NotesService --load                                       serves in a temporary directory, under load, and checks the answers
///
/// It serves on 127.0.0.1 unless another address is given, such as 0.0.0.0 in a container.
/// `BACKUP_REPOSITORY` is where each change is stored: a directory, or `rclone:REMOTE:PATH`. GET /health tells of it.
/// The key of the database is in the keyring DATABASE.keyring, which the passphrase unlocks; SIGHUP rotates the key. `LOG_LEVEL=trace` logs
/// each statement. GET /metrics has the metrics; traces go to the backend that a program bootstraps InstrumentationSystem with.
@main
struct NotesService {
    static func main() async {
        do {
            try await run()
        } catch {
            // Without a core dump, which would have keys in it.
            try? FileHandle.standardError.write(contentsOf: Data("NotesService: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        var logger = Logger(label: "notes", factory: { StreamLogHandler.standardError(label: $0) })
        let environment = ProcessInfo.processInfo.environment
        logger.logLevel = environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) } ?? .info
        switch arguments.first {
        case "--load" where arguments.count == 1: return try await Load.run(logger)
        case "--health" where arguments.count <= 2:
            guard let problem = await Health.problem(port: port(arguments.dropFirst(1))) else { return }
            print(problem)
            exit(1)
        default: break
        }
        guard (2...4).contains(arguments.count), !arguments[0].hasPrefix("-") else { usage() }
        let port = port(arguments.dropFirst(2))
        let address = arguments.count > 3 ? arguments[3] : "127.0.0.1"
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let secret = try KeySource.file(path: arguments[1]).readKeyringSecret(.passphrase)
        let (store, keyring) = try await NoteStore.open(arguments[0], secret, logger)
        let service = NotesService(
            store: store,
            backup: environment["BACKUP_REPOSITORY"].map { store.backup(to: $0, keyring: keyring, logger) },
            rotation: KeyRotation(pool: store.pool, keyring: keyring, logger: logger),
            metrics: metrics,
            logger: logger
        )
        try await service.application(port: port, address: address).runService()
    }

    private static func port(_ arguments: ArraySlice<String>) -> Int {
        guard let text = arguments.first else { return 8080 }
        guard let port = UInt16(text) else { usage() }
        return Int(port)
    }

    private static func usage() -> Never {
        print("usage: NotesService DATABASE PASSPHRASE-FILE [PORT [ADDRESS]] | --health [PORT] | --load")
        exit(64)
    }

    let store: NoteStore
    let backup: ContinuousBackup?
    var rotation: KeyRotation?
    var metrics: PrometheusMetrics?
    let logger: Logger

    /// The service on this machine's own address, unless another is given: for others there is to be TLS before it.
    func application(
        port: Int,
        address: String = "127.0.0.1",
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        Application(
            router: router(),
            configuration: ApplicationConfiguration(address: .hostname(address, port: port)),
            // Shut down after the server, the last first: each request still has its database, and the backup has what the last ones wrote.
            services: [store.pool] + (backup.map { [$0] } ?? []) + (rotation.map { [$0] } ?? []),
            onServerRunning: { await onServerRunning($0.localAddress?.port ?? 0) },
            logger: logger
        )
    }

    /// POST /notes, GET /notes?author=&limit=, GET and DELETE /notes/:id, GET /health, GET /metrics.
    private func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.addMiddleware {
            TracingMiddleware()
            MetricsMiddleware()
            LogRequestsMiddleware(.debug)
            FailureMiddleware(logger: logger)
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
        router.get("health") { _, _ in
            let problem = await store.problem()
            let report = Health.Report(
                problem: problem.map { "\($0)" },
                backup: backup.map { Health.Report.Backup($0.metrics) }
            )
            return EditedResponse(status: problem == nil ? .ok : .serviceUnavailable, response: report)
        }
        if let metrics { router.get("metrics") { _, _ in metrics.text } }
        return router
    }
}

extension NoteStore.Note: ResponseCodable {}
extension Health.Report: ResponseCodable {}
/// What a request fails of: 503 where a lock, the disk or a directory is in the way, which the database logs with its cause; 500 for the rest,
/// which is logged here.
private struct FailureMiddleware<Context: RequestContext>: RouterMiddleware {
    let logger: Logger

    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws
        -> Response
    {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            throw error
        } catch let error as DatabaseError
            where [.busy, .full, .inputOutput, .readOnly, .cannotOpen].contains(error.code.primary)
        {
            throw HTTPError(.serviceUnavailable)
        } catch {
            logger.error("a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            throw HTTPError(.internalServerError)
        }
    }
}
