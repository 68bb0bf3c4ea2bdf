/// What a keyring notes of repositories of backups: the newest generation of each. It is in a slot of a kind of its own, which opens nothing.
struct BackupNotes: Equatable {
    /// The newest generation of a repository.
    struct Note: Equatable {
        /// The identifier of the repository, 16 bytes.
        let repository: [UInt8]
        var generation: UInt64
    }

    /// The one that was noted last is the last.
    private(set) var notes: [Note] = []

    static let slotKind: UInt8 = 6
    static let repositorySize = 16
    /// Of more, the one that was noted first is dropped.
    static let most = 32

    init() {}

    /// Reads what follows the label of a slot; nil where it is not what is written.
    init?(_ bytes: [UInt8]) {
        let size = BackupNotes.repositorySize + 8
        guard let count = bytes.first, (1...BackupNotes.most).contains(Int(count)), bytes.count == 1 + Int(count) * size
        else { return nil }
        for start in stride(from: 1, to: bytes.count, by: size) {
            let repository = Array(bytes[start..<(start + BackupNotes.repositorySize)])
            let number = bytes[(start + BackupNotes.repositorySize)..<(start + size)]
            guard generation(of: repository) == nil else { return nil }
            notes.append(Note(repository: repository, generation: number.reduce(0) { $0 << 8 | UInt64($1) }))
        }
    }

    var bytes: [UInt8] {
        [UInt8(notes.count)]
            + notes.flatMap { note in note.repository + withUnsafeBytes(of: note.generation.bigEndian) { Array($0) } }
    }

    func generation(of repository: [UInt8]) -> UInt64? {
        notes.first { $0.repository == repository }?.generation
    }

    func isDue(_ generation: UInt64, of repository: [UInt8], lowering: Bool) -> Bool {
        let noted = self.generation(of: repository) ?? 0
        return lowering ? noted != generation : noted < generation
    }

    /// Notes a generation.
    ///
    /// - Parameter lowering: Whether also where a later one is noted.
    mutating func note(_ generation: UInt64, of repository: [UInt8], lowering: Bool) {
        guard isDue(generation, of: repository, lowering: lowering) else { return }
        notes.removeAll { $0.repository == repository }
        notes.append(Note(repository: repository, generation: generation))
        if notes.count > BackupNotes.most { notes.removeFirst() }
    }
}

extension KeyringSlot {
    /// Whether it has notes of backups, and no secret opens it.
    public var isNote: Bool { kindNumber == BackupNotes.slotKind }
}

extension KeyringContent {
    var backupNotes: BackupNotes {
        slots.first(where: \.isNote).flatMap { BackupNotes($0.wrapped) } ?? BackupNotes()
    }

    /// Whether both are of one generation, with the same slots and keys.
    func isSame(as other: KeyringContent) -> Bool { generation == other.generation && hasSlotsAndKeys(of: other) }

    /// Whether both are the same keyring with the same slots and keys, whatever is noted of backups.
    func hasSlotsAndKeys(of other: KeyringContent) -> Bool {
        identifier == other.identifier && slots.filter { !$0.isNote } == other.slots.filter { !$0.isNote }
            && (current, next) == (other.current, other.next) && retired == other.retired
    }

    /// Notes a generation of a repository, as ``BackupNotes/note(_:of:lowering:)``.
    mutating func note(_ generation: UInt64, of repository: [UInt8], lowering: Bool) throws {
        var notes = backupNotes
        notes.note(generation, of: repository, lowering: lowering)
        guard notes != backupNotes else { return }
        let old = slots.firstIndex(where: \.isNote)
        let number = old.map { slots[$0].number } ?? (slots.map(\.number).max() ?? 0) + 1
        guard old != nil || slots.count < KeyringContent.mostSlots, number <= 0xffff else { throw KeyringError(.full) }
        let slot = KeyringSlot(
            number: number,
            kind: nil,
            label: "",
            created: old.map { slots[$0].created } ?? .wholeSecond,
            changed: .wholeSecond,
            kindNumber: BackupNotes.slotKind,
            kdf: .unusable([]),
            salt: [],
            command: nil,
            wrapped: notes.bytes
        )
        if let old { slots[old] = slot } else { slots.append(slot) }
    }
}

extension UnlockedKeyring {
    /// The newest generation of a repository of backups that was noted; nil where none was.
    package func notedGeneration(of repository: [UInt8]) throws -> UInt64? {
        try content().backupNotes.generation(of: repository)
    }

    /// How many repositories of backups have a note.
    package func notedRepositories() throws -> Int { try content().backupNotes.notes.count }

    /// Whether the last note of a backup is from before the present key was made.
    package func isNoteBeforeKey() throws -> Bool {
        let content = try content()
        return content.slots.contains { $0.isNote && $0.changed <= content.current.created }
    }

    /// Notes a generation of a repository of backups, also where a later one is noted if that is said.
    ///
    /// The sequence number stays: a copy of the keyring with other notes has the same slots and keys, and is no old one. If it rose, the
    /// next opening would write it to the database, which would be a change to back up.
    package func note(_ generation: UInt64, of repository: [UInt8], lowering: Bool = false) throws {
        guard try content().backupNotes.isDue(generation, of: repository, lowering: lowering) else { return }
        try withLock { try $0.note(generation, of: repository, lowering: lowering) }
    }
}
