import CipherDB
import Foundation
import Observation

#if canImport(SwiftUI)
    import SwiftUI
#endif

/// The code of the article about apps; Scripts/check-darwin.py type-checks it, too.
enum AppCode {
    struct Note: Codable, RowDecodable, PersistableRecord, Sendable {
        static let databaseTableName = "notes"
        var id: Int64?
        var text: String
    }

    static func open(path: String, group: String) async throws -> DatabasePool {
        // begin
        let item = KeychainItem(service: "notes", account: "notes.db", accessGroup: group)
        if !FileManager.default.fileExists(atPath: path) {
            // An extension may start at the same time: the key of one of the two is stored.
            try? item.store(DatabaseKey.random().exported(), replacing: false)
        }
        let pool = try await DatabasePool(path: path, key: item.readRawKey())
        // end
        return pool
    }

    static func enclave(_ unlocked: UnlockedKeyring, group: String) throws -> UnlockedKeyring {
        // begin
        let item = KeychainItem(service: "notes", account: "slot", accessGroup: group, usesSecureEnclave: true)
        try item.store(SecretBytes.random(count: 32))
        try unlocked.add(item.readKeyringSecret(.external), label: "this device")
        // end
        return unlocked
    }

    // begin
    @available(iOS 17, macOS 14, *)
    @MainActor @Observable final class NoteList {
        private(set) var notes: [Note] = []
        private(set) var failure: (any Error)?
        var isActive = true

        /// Until its task is cancelled.
        func follow(_ pool: DatabasePool) async {
            do {
                for try await notes in pool.observe({ try $0.fetchAll(Note.self, "SELECT * FROM notes ORDER BY id") }) {
                    self.notes = notes
                }
            } catch {
                failure = error
            }
        }
    }
    // end

    #if os(iOS)
        // begin
        @available(iOS 17, *)
        struct NotesView: View {
            let pool: DatabasePool
            @State private var list = NoteList()
            @Environment(\.scenePhase) private var phase

            var body: some View {
                List(list.notes, id: \.id) { Text($0.text) }
                    .task { await list.follow(pool) }
                    .onChange(of: phase) { _, phase in
                        list.isActive = phase == .active
                        if phase == .active { pool.resume() }
                        if phase == .background { suspend() }
                    }
            }

            /// The system lets the app run until the closure returns.
            private func suspend() {
                ProcessInfo.processInfo.performExpiringActivity(withReason: "suspend") {
                    @Sendable [pool, list] isExpired in
                    if !isExpired { try? pool.suspend() }
                    // The user may be back by now.
                    Task { @MainActor in if list.isActive { pool.resume() } }
                }
            }
        }
    // end
    #endif
}
