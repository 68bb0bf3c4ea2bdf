import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The health check of a container: asks the service on this machine.
enum Health {
    /// Nil if the service answers and can read its database, else why not.
    static func problem(port: Int) async -> String? {
        guard let url = URL(string: "http://127.0.0.1:\(port)/health") else { return "no port \(port)" }
        do {
            let (_, response) = try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 3))
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return status == 200 ? nil : "\(url.absoluteString) answered \(status)"
        } catch {
            return "\(url.absoluteString) did not answer: \(error.localizedDescription)"
        }
    }
}
