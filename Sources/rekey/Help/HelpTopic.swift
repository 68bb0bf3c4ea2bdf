import ArgumentParser

/// Help about what concerns several commands: `rekey help keys`.
enum HelpTopic: String, CaseIterable {
    case keys
    case exitStatus = "exit-status"
    case json
    case environment

    /// For `rekey --help`.
    var abstract: String {
        switch self {
        case .keys: "Where passphrases and keys are read from"
        case .exitStatus: "Exit statuses"
        case .json: "Output of --json"
        case .environment: "Environment variables"
        }
    }

    var text: String {
        switch self {
        case .keys: HelpTopic.keysText
        case .exitStatus: ExitStatus.table
        case .json: HelpTopic.jsonText
        case .environment: HelpTopic.environmentText
        }
    }

    /// The text that arguments ask for if it is not the help of one command.
    static func text(for arguments: [String]) -> String? {
        if [[], ["help"], ["-h"], ["--help"]].contains(arguments) { return Overview.text }
        guard arguments.count == 2, arguments[0] == "help" else { return nil }
        return HelpTopic(rawValue: arguments[1]).map { $0.text + "\n" }
    }

    private static var keysText: String {
        """
        A passphrase or key is never an argument, because every user of a machine can
        read the arguments of a process. Without one of these options rekey prompts at
        the terminal, without echo. Each secret has one source.

        \(CommandHelp.sharedOptions)

        Files with secrets must belong to you and must not be accessible to other users,
        unless --unsafe-permissions is given. `-` and /dev/stdin are standard input;
        pipes, such as <(program), are read to their end. A passphrase is one line: its
        line ending is not part of it, and a second line or a byte order mark is
        refused. One with NUL bytes, or that is no UTF-8, is not taken for text: all
        bytes count but a line ending at the end. At the terminal you have three tries.
        The program of --passphrase-command does not inherit variables that
        --passphrase-env and --new-passphrase-env name.

        A slot of a keyring can store a command that prints its secret. It is shown, and
        run only if --allow-command has the same text or you type yes at the terminal.
        It has the environment and standard error of rekey, no standard input, and a
        minute. Its text is split at spaces; '…', "…" and \\ quote. The text of
        --passphrase-command is split at spaces only, and nothing quotes.
        """
    }

    private static let environmentText = """
        These environment variables have an effect:

          NAME of --passphrase-env NAME
                      The passphrase; rekey overwrites its copy after reading.
          CREDENTIALS_DIRECTORY
                      Set by systemd: where --passphrase-credential looks.
          PATH        Where --passphrase-command looks for its program.
          CIPHERDB_PAGE_CRYPTOGRAPHY
                      engine: SQLCipher's own code computes MACs and ciphertext.
        """
}

extension HelpTopic {
    static var jsonText: String {
        """
        --json prints one object for each file to standard output, one line each, with
        the members `file`, `jsonVersion` (1) and these. Documentation/rekey.schema.json
        is a JSON Schema of them. New members may come at any time.

          inspect     kind (encrypted, plaintext, empty, notADatabase), fileType (such
                      as gzip data), size in bytes, appearance; with the key: format
                      (1 to 4), pageSize in bytes, pageCount, parameters, advice
                      (lines); with a keyring: keyring (as keyring list),
                      keyringAdvice (lines)
          status      state (encrypted, plaintextHeader, withoutMACs, plaintext, empty,
                      notADatabase, damaged, wrongKey, notVerified, missing,
                      notAFile, unreadable), encrypted, verified, ok, exitStatus,
                      checked (time), seconds, size, fileType; with the key: as
                      verify; with a keyring: keyring (as keyring list) or
                      keyringError; if the check failed: error, message
          verify, change --in-place
                      format, pageSize, parameters, pages, damagedPages (numbers,
                      from 1), missingPages (how many), problems (lines of SQLite's
                      check), ok; under a retired key of the keyring: keyRetired
                      (the day)
          change, encrypt, decrypt, migrate, copy
                      format (absent for plaintext), pageSize, pages, parameters,
                      previousFormat, ok; if there is nothing to do: note, ok
          recover     format, pageSize, pages, damagedPages, missingPages, tables (name,
                      rows, brokenRows, refusedRows, lostPages and missing: ranges
                      of rowids), schemaWhole, unassignedRows, unassignedTable,
                      madeAgain (name, empty), notMade, problems, ok
          --dry-run   dryRun, fromFormat, format, pageSize, byPages, size, neededSpace,
                      freeSpace, leftovers
          backup      generation (number, time, databaseSize, storedSize,
                      isAuthenticated, segments), isNew; with the key: format;
                      with --keep…: as backups prune
          restore     generation; with the key: format, pages,
                      isManifestAuthenticated, isStructureChecked
          backups list, check, prune
                      generations, problems if any; sound (numbers), size, problems,
                      ok, with the key proved and underOtherKeys (numbers); kept and
                      pruned (numbers), prunedSegments, prunedSize
          cleanup     removed (paths)
          keyring list, keyring status
                      keyring (path), sequenceNumber, created, written, keyCreated
                      (days), retiredKeys, version, rotationPending, slots (number,
                      kind, label, kdf, command, created, changed); status also:
                      database (current, next, older: a retired key, other)
          keyring unlock
                      slot, label
          other keyring commands
                      keyring and ok, or as change
          calibrate   kdf, parameters
          errors      error, exitStatus, message, fileType

        `error` is the code of the library's error, such as wrongKey or wrongSecret,
        or a word for the exit status:
          \(ExitStatus.allCases.dropFirst().map(\.name).joined(separator: ", ").wrapped(to: 78, indent: 2))

        Messages also go to standard error. Invalid options are reported there only.
        """
    }
}

extension String {
    /// Broken at spaces; lines after the first are indented.
    func wrapped(to width: Int, indent: Int) -> String {
        var lines = [""]
        for word in split(separator: " ") {
            if lines[lines.count - 1].count + word.count + 1 + indent > width { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
    }
}
