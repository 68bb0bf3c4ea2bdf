import CipherDB
import Foundation
import TestSupport
import Testing

/// `rekey backup`, `restore` and `backups`.
@Suite(.atTheEnds) struct BackupCommandTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try SampleFile.make(at: directory.file("a.db"), under: .sample("k"))
        for name in ["k", "other"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
    }

    private func rekey(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey(arguments, in: directory)
    }

    private func update(_ sql: SQL, under key: String = "k") throws {
        let queue = try DatabaseQueue(path: directory.file("a.db"), key: .sample(key))
        try queue.inDatabase { try $0.executeUpdate(sql) }
        try queue.close()
    }

    @Test func backupIsRestoredWithProof() throws {
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        try update("DELETE FROM people WHERE id > 300")
        let second = try rekey("backup a.db repository --key-file k")
        #expect(second.output.contains("generation: 2 of ") && second.output.contains("by their MACs"))
        #expect(try rekey("backup a.db repository --key-file k").output.contains("nothing has changed since"))
        let list = try rekey("backups repository").output.split(separator: "\n")
        #expect(list.count == 2 && list[0].hasPrefix("1: ") && list[1].hasPrefix("2: "))
        let restored = try rekey("restore repository new.db --generation 1 --key-file k")
        for line in ["manifest:        its MAC is right", "integrity check: ok", "proved:          yes"] {
            #expect(restored.output.contains(line), "\(restored.output)\(restored.errors)")
        }
        #expect(try rekey("verify new.db --key-file k").status == 0)
        #expect(try rekey("backups check repository").output.hasSuffix("sound:       yes\n"))
        let check = try rekey("backups check repository --key-file k")
        #expect(check.output.contains("proved:      2, manifest and pages by their MACs\n"), "\(check.errors)")
        let pruned = try rekey("backups prune repository --keep 1").output
        let manifest = #/kept:    1\nremoved: 1 generation, 0 segments, [1-9][0-9]{2} bytes freed\n/#
        #expect(pruned.wholeMatch(of: manifest) != nil, "\(pruned)")
    }

    /// What the repository has less, but for the record of the prune.
    @Test func pruneSaysHowMuchItFreed() throws {
        func size() throws -> Int {
            try ["generations", "segments"].reduce(0) { sum, name in
                let place = directory.file("repository/\(name)/")
                return try FileManager.default.contentsOfDirectory(atPath: place).reduce(sum) {
                    try $0 + Data(contentsOf: URL(fileURLWithPath: place + $1)).count
                }
            }
        }
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        #expect(try rekey("change a.db --key-file k --new-key-file other").status == 0)
        #expect(try rekey("backup a.db repository --key-file other").status == 0)
        let before = try size()
        let pruned = try rekey("backups prune repository --keep 1 --json").output
        #expect(try pruned.contains("\"prunedSize\":\(before - size())"), "\(pruned)")
        #expect(try before - size() > 4096)
        try update("DELETE FROM people WHERE id > 300", under: "other")
        let kept = try rekey("backup a.db repository --key-file other --keep 1")
        #expect(kept.output.contains(" bytes freed"), "\(kept)")
    }

    @Test func damagedManifestHidesNoOther() throws {
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        try update("DELETE FROM people WHERE id > 300")
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.file("repository/generations"))
        let name = try #require(names.max())
        try flipByte(of: directory.file("repository/generations/" + name), at: 40)
        let list = try rekey("backups repository")
        #expect(list.status == 65 && list.output.contains("1:       2"), "\(list)")
        #expect(list.output.contains("problem: repository/generations/\(name): damaged"), "\(list)")
        let json = try rekey("backups repository --json")
        #expect(json.status == 65 && json.output.contains(#""problems":["repository/generations/"#), "\(json)")
    }

    @Test func otherDatabaseRemovesNoHistory() throws {
        try SampleFile.make(at: directory.file("b.db"), under: .sample("other"))
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        let wrong = try rekey("backup b.db repository --key-file other --keep 1")
        #expect(wrong.status == 0 && !wrong.output.contains("removed"), "\(wrong.output)")
        #expect(wrong.errors.contains("rekey: b.db: the file shares no page and no salt with generation 1"))
        let json = try rekey("backup a.db repository --key-file k --keep 1 --json")
        #expect(json.output.contains(#""warnings":["the file shares no page"#) && !json.output.contains("pruned"))
        #expect(try rekey("restore repository new.db --generation 1 --key-file k").status == 0)
    }

    @Test func generationWithoutMACHidesNoOther() throws {
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        #expect(try rekey("backup a.db repository").output.contains("nothing has changed since"))
        try update("DELETE FROM people WHERE id > 300")
        let second = try rekey("backup a.db repository --keep 1")
        #expect(second.errors.contains("the new generation has no MAC"), "\(second.errors)")
        let refused = try rekey("restore repository new.db --key-file k")
        #expect(
            refused.status == 77 && refused.errors.contains("--generation 1 restores that one"),
            "\(refused.errors)"
        )
        #expect(
            try rekey("restore repository new.db --key-file k --generation 1").output.contains("proved:          yes")
        )
    }

    @Test func repositoryWithoutGenerationIsNotSound() throws {
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.file("repository/generations")) {
            try FileManager.default.removeItem(atPath: directory.file("repository/generations/" + name))
        }
        #expect(try rekey("backups repository").output == "repository: no generation\n")
        #expect(try rekey("backups repository --json").output.contains(#""generations":[]"#))
        for options in ["", "--key-file k"] {
            let check = try rekey("backups check repository \(options)")
            #expect(check.status == 65 && check.output.hasSuffix("sound:       no\n"))
        }
    }

    @Test func lostSegmentIsSaidAndStoredAgain() throws {
        #expect(try rekey("backup a.db repository --key-file k").status == 0)
        let segments = directory.file("repository/segments")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: segments).first)
        try FileManager.default.removeItem(atPath: segments + "/" + name)
        let check = try rekey("backups check repository")
        #expect(check.status == 65 && check.output.contains("generations: 0 can be restored\n"))
        let advice = "`rekey backups check` tells which generations can be restored"
        #expect(try rekey("restore repository new.db").errors.contains(advice))
        let again = try rekey("backup a.db repository --key-file k --keep 1")
        #expect(again.status == 0 && again.errors.contains("segments/\(name) is missing, cut or damaged; all pages"))
        #expect(!again.output.contains("removed"))
        #expect(try rekey("backups check repository").output.contains("generations: 1 can be restored: number 2\n"))
        #expect(try rekey("backup a.db repository --key-file k --keep 1").output.contains("removed:    1 generation"))
        #expect(try rekey("backups check repository").status == 0)
    }

    @Test func directoryWithOtherFilesIsRefused() throws {
        _ = try Program.run("/bin/mkdir", [directory.file("used"), directory.file("mount")])
        _ = try Program.run("/bin/mkdir", [directory.file("mount/lost+found")])
        _ = try directory.write("x".utf8, to: "used/other")
        for place in ["used", "."] {
            let refused = try rekey("backup a.db \(place)")
            #expect(refused.status == 73 && refused.errors.contains("has other files"), "\(refused.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("used")) == ["other"])
        #expect(try rekey("backup a.db mount").status == 0)
    }

    @Test(arguments: [
        ("restore repository a.db", 73, "exists already"), ("restore nothing new.db", 66, "not a repository"),
        ("restore repository new.db --generation 7", 66, "no such generation"),
        ("restore repository new.db --at 2001-01-01T00:00:00Z", 66, "no such generation"),
        ("restore repository new.db --at yesterday", 64, "is no time such as"),
        ("restore repository new.db --at 2026-01-01T00:00:00Z --generation 1", 64, "exclude each other"),
        ("restore repository new.db --at-least 2", 65, "the newest generation is 1"),
        ("restore repository new.db --key-file k", 77, "--allow-unauthenticated accepts it"),
        ("restore repository new.db --key-file other", 77, "wrong key"),
        ("backup missing.db repository", 66, "no such file"), ("backup k repository", 65, "not"),
        ("backup a.db repository --key-file other", 77, "wrong key"), ("backup a.db a.db", 66, "not a repository"),
        ("backups check repository --at-least 2", 65, "the newest generation is 1"),
        ("backups check repository --key-file k", 65, "written without a key"),
        ("backups prune repository", 64, "Give what to keep"), ("backups prune repository --keep 0", 64, "from 1"),
        ("backups prune repository --keep-within 3w", 64, "no age such as"),
        ("backup a.db rclone:no-such-remote:x", 74, "rclone"), ("backup a.db rclone:x", 64, "names no remote"),
        ("backup a.db RCLONE:x", 64, "names no remote"), ("backups rclone:", 64, "names no remote"),
        ("restore rclone:x new.db", 64, "names no remote"), ("backup a.db RCLONE:no-such-remote:x", 74, "rclone"),
        ("backup a.db ''", 64, "is empty"), ("backups ''", 64, "is empty"), ("backups a.db", 66, "not a repository"),
        ("backup a.db repository --follow --prometheus -", 64, "give a file"),
        ("backup a.db repository --follow --prometheus a.db-wal --key-file k", 73, "side file of a database"),
    ])
    func errorNamesCause(arguments: String, status: Int32, text: String) throws {
        #expect(try rekey("backup a.db repository").status == 0)
        let outcome = try rekey(arguments)
        #expect(outcome.status == status, "\(outcome.errors)\(outcome.output)")
        #expect((outcome.errors + outcome.output).contains(text), "\(outcome.errors)")
        #expect(!directory.names.contains("new.db"))
        #expect(!directory.names.contains { $0.contains(".rekey-") })
    }

    @Test func generationUnderRetiredKeyIsRestored() throws {
        #expect(try rekey("keyring init a.db --key-file k --new-key-file other").status == 0)
        let keys = "--keyring a.db.keyring --key-file other"
        #expect(try rekey("backup a.db repository \(keys)").status == 0)
        #expect(try rekey("keyring rotate a.db --key-file other").status == 0)
        #expect(try rekey("backup a.db repository \(keys)").output.contains("generation: 2 of "))
        for number in 1...2 {
            let outcome = try rekey("restore repository \(number).db --generation \(number) \(keys)")
            #expect(outcome.output.contains("proved:          yes"), "\(outcome.errors)")
        }
        #expect(try rekey("backups check repository \(keys)").output.contains("proved:      2, manifest"))
        let lone = try rekey("keyring unlock a.db --key-file other --export-raw-key").output
        _ = try directory.write(lone.utf8, to: "lone")
        let newest = try rekey("backups check repository --key-file lone")
        #expect(
            newest.output.contains("proved:      1, ") && newest.output.contains("; 1 checked without the key"),
            "\(newest.errors)"
        )
        #expect(try rekey("backups check repository --key-file k").status == 77)
    }

    @Test func checkFailsWhereKeyringLacksKeyOfGeneration() throws {
        #expect(try rekey("keyring init a.db --key-file k --new-key-file other").status == 0)
        let keys = "--keyring a.db.keyring --key-file other"
        for _ in 1...3 {
            #expect(try rekey("backup a.db repository \(keys)").status == 0)
            #expect(try rekey("keyring rotate a.db --key-file other").status == 0)
        }
        #expect(try rekey("backup a.db repository \(keys)").status == 0)
        #expect(try rekey("backups check repository \(keys)").status == 0)
        #expect(try rekey("keyring forget a.db --yes-forget-backups --key-file other").status == 0)
        let check = try rekey("backups check repository \(keys)")
        #expect(check.status == 65 && check.output.contains("1 can be restored: number 4"), "\(check.output)")
        #expect(check.output.contains("no key of the keyring opens generations 1"), "\(check.output)")
        let json = try rekey("backups check repository --json \(keys)").output
        #expect(json.contains(#""underOtherKeys":[1,2,3]"#) && json.contains(#""sound":[4]"#), "\(json)")
        _ = try rekey("backups check repository --prometheus check.prom \(keys)")
        let metrics = try String(contentsOfFile: directory.file("check.prom"), encoding: .utf8)
        #expect(metrics.contains("rekey_repository_under_other_keys{path=\"repository\"} 3\n"), "\(metrics)")
    }

    @Test func keyringFindsOldCopyOfRepository() throws {
        #expect(try rekey("keyring init a.db --key-file k --new-key-file other").status == 0)
        let keys = "--keyring a.db.keyring --key-file other"
        #expect(try rekey("backup a.db repository \(keys)").status == 0)
        try FileManager.default.copyItem(atPath: directory.file("repository"), toPath: directory.file("old"))
        #expect(try rekey("keyring rotate a.db --key-file other").status == 0)
        #expect(try rekey("backup a.db repository \(keys)").status == 0)
        #expect(try rekey("keyring list a.db").output.contains("slot 2:          notes of backups, changed "))
        #expect(try rekey("restore repository 1.db \(keys)").status == 0)
        #expect(try rekey("backups check repository \(keys)").status == 0)
        let refused = try rekey("restore old 2.db \(keys)")
        #expect(refused.status == 65 && refused.errors.contains("2 or later was expected"), "\(refused.errors)")
        #expect(refused.errors.contains("--at-least 0 accepts an old copy") && !directory.names.contains("2.db"))
        #expect(try rekey("backups check old \(keys)").status == 65)
        #expect(try rekey("restore old 2.db --at-least 0 \(keys)").status == 0)
        #expect(try rekey("backups check old --at-least 0 \(keys)").status == 0)
        // Nor do later generations hide it.
        for options in ["", "--follow"] {
            let backup = try rekey("backup a.db old \(options) \(keys)")
            #expect(
                backup.status == 65 && backup.errors.contains("--at-least 0 accepts an old copy"),
                "\(backup.errors)"
            )
        }
        #expect(try rekey("backups old").output.split(separator: "\n").count == 1)
        #expect(try rekey("backup a.db repository --at-least 3 \(keys)").status == 65)
        #expect(try rekey("backup a.db none --at-least 1 \(keys)").status == 66 && !directory.names.contains("none"))
        #expect(try rekey("backup a.db old --at-least 0 \(keys)").status == 0)
        // The keyring is unchanged by readers, and fits the database.
        #expect(try rekey("verify a.db \(keys)").status == 0)
    }

    /// A repository's disk that is not mounted leaves an empty directory.
    @Test func anotherRepositoryIsMadeOnlyIfAskedFor() throws {
        #expect(try rekey("keyring init a.db --key-file k --new-key-file other").status == 0)
        let keys = "--keyring a.db.keyring --key-file other"
        #expect(try rekey("backup a.db repository \(keys)").status == 0)
        try FileManager.default.moveItem(atPath: directory.file("repository"), toPath: directory.file("mounted"))
        for name in ["repository", "elsewhere"] {
            if name == "repository" {
                try FileManager.default.createDirectory(
                    atPath: directory.file(name),
                    withIntermediateDirectories: false
                )
            }
            for options in ["", "--follow"] {
                let backup = try rekey("backup a.db \(name) \(options) \(keys)")
                #expect(backup.status == 66 && backup.errors.contains("the keyring notes one"), "\(backup.errors)")
                #expect(backup.errors.contains("--at-least 0 makes a new repository"))
            }
            let made = try? FileManager.default.contentsOfDirectory(atPath: directory.file(name))
            #expect(made == (name == "repository" ? [] : nil))
        }
        #expect(try rekey("backup a.db mounted \(keys)").status == 0)
        #expect(try rekey("backup a.db elsewhere --at-least 0 \(keys)").status == 0)
        #expect(try rekey("backup a.db elsewhere \(keys)").status == 0)
    }

    /// Later prunes would remove what is the other's.
    @Test(arguments: ["", "--follow"]) func repositoryOfAnotherDatabaseIsRefused(options: String) throws {
        try SampleFile.make(at: directory.file("b.db"), under: .sample("k"))
        for name in ["a", "b"] {
            #expect(try rekey("keyring init \(name).db --key-file k --new-key-file other").status == 0)
            let done = try rekey("backup \(name).db \(name) --keyring \(name).db.keyring --key-file other")
            #expect(done.status == 0, "\(done.errors)")
        }
        let keys = "--keyring a.db.keyring --key-file other --keep 1"
        let refused = try rekey("backup a.db b \(options) \(keys)")
        #expect(refused.status == 66 && refused.errors.contains("not the repository of this database"))
        #expect(refused.errors.contains("--at-least 0"))
        #expect(try rekey("backups b").output.split(separator: "\n").count == 1)
        #expect(try rekey("backup b.db b --keyring b.db.keyring --key-file other").status == 0)
        // Asked for, as after both were moved.
        #expect(try rekey("backup a.db b --at-least 0 \(keys)").errors.contains("this run removes no generation"))
    }

    @Test func keptGenerationsAreBoundedWithoutPrune() throws {
        for number in 1...3 {
            try update("UPDATE people SET note = \(number) WHERE id = 1")
            let done = try rekey("backup a.db repository --key-file k --keep 2")
            #expect(
                done.status == 0
                    && done.output.contains("removed:    \(number == 3 ? "1 generation," : "0 generations,")"),
                "\(done.output)"
            )
        }
        #expect(try rekey("backups repository").output.split(separator: "\n").map { $0.prefix(3) } == ["2: ", "3: "])
        #expect(try rekey("backups check repository").status == 0)
        #expect(try rekey("backup a.db repository --keep 0").status == 64)
        #expect(try rekey("backup a.db repository --keep-within 3w").status == 64)
    }

    @Test func followingStoresChangesUntilSignal() throws {
        let command =
            "backup a.db repository --key-file k --follow --interval 0.02 --prometheus m.prom --keep 2"
        let program = try StartedProgram(
            "/bin/sh",
            ["-c", "cd \"$0\" && exec \"$1\" \(command)", directory.path, Program.built("rekey")],
            output: .file(directory.write([], to: "output"))
        )
        func wait(_ condition: () -> Bool) throws {
            for _ in 0..<24_000 where !condition() { usleep(5000) }
            try #require(condition())
        }
        func metric(_ name: String) -> Double? {
            let text = (try? String(contentsOfFile: directory.file("m.prom"), encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("rekey_backup_\(name){") }
            return line.flatMap { Double($0.split(separator: " ").last ?? "") }
        }
        try wait { metric("generation") == 1 }
        let queue = try DatabaseQueue(
            path: directory.file("a.db"),
            key: .sample("k"),
            configuration: Configuration { $0.journalMode = .wal }
        )
        for number in 1...3 {
            let before = metric("stored_bytes_total") ?? 0
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = 1") }
            try wait { metric("stored_bytes_total") ?? 0 > before }
        }
        #expect(metric("lag_seconds") ?? 99 < 30 && metric("failures_total") == 0)
        // A failure does not end it.
        try FileManager.default.moveItem(
            atPath: directory.file("repository/repository"),
            toPath: directory.file("marker")
        )
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = 4 WHERE id = 1") }
        try wait { metric("failures_total") ?? 0 > 0 }
        // What is not stored waits, longer and longer.
        let (lag, until) = (metric("lag_seconds") ?? 0, metric("complete_until_timestamp_seconds") ?? 0)
        try wait { metric("lag_seconds") ?? 0 > lag + 0.5 }
        #expect(until > 0 && metric("complete_until_timestamp_seconds") == until)
        let text = try String(contentsOfFile: directory.file("m.prom"), encoding: .utf8)
        #expect(text.contains("# TYPE rekey_backup_failures_total counter\n"))
        #expect(text.contains("# TYPE rekey_backup_lag_seconds gauge\n"))
        let before = metric("stored_bytes_total") ?? 0
        try FileManager.default.moveItem(
            atPath: directory.file("marker"),
            toPath: directory.file("repository/repository")
        )
        try wait { metric("stored_bytes_total") ?? 0 > before }
        #expect(metric("lag_seconds") ?? 0 > 0.5 && metric("complete_until_timestamp_seconds") ?? 0 > until)
        program.kill(SIGTERM)
        #expect(try program.wait() == 0)
        try queue.close()
        let lines = try String(contentsOfFile: directory.file("output"), encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 5 && lines[0].hasPrefix("generation 1: ") && lines[1].contains(" s after the commit"))
        #expect(try rekey("backups repository").output.split(separator: "\n").count == 2)
        #expect(try rekey("restore repository new.db --key-file k").output.contains("proved:          yes"))
        let restored = try DatabaseQueue(path: directory.file("new.db"), key: .sample("k"))
        #expect(try restored.inDatabase { try $0.int(forQuery: "SELECT note FROM people WHERE id = 1") } == 4)
    }

    @Test func fileWithoutWholePagesIsNotStored() throws {
        var random = SplitMix(7)
        _ = try directory.write((0..<50_000).map { _ in UInt8.random(in: 0...255, using: &random) }, to: "random")
        let refused = try rekey("backup random repository")
        #expect(refused.status == 65 && !directory.names.contains("repository"), "\(refused.errors)")
    }

    @Test func nameLikeRemoteIsSaidToBeDirectory() throws {
        let note = "loc:x: this is a directory of this machine; a remote of rclone is rclone:loc:x"
        #expect(try rekey("backup a.db loc:x").errors.contains(note))
        #expect(try rekey("backup a.db loc:x").errors == "")
        #expect(try rekey("backup a.db ./loc:y").errors == "")
    }

    @Test func firstLookIsTriedAgainIfCauseMayPass() throws {
        // The directory of the repository is made a while after the start.
        let script = """
            cd "$0" && { "$1" backup a.db later/repository --key-file k --follow --interval 0.05 --prometheus m.prom & } &&
            for i in $(seq 400); do grep -qs 'failures_total{.*} [1-9]' m.prom && break; sleep 0.05; done &&
            mkdir later &&
            for i in $(seq 400); do grep -qs 'generation{.*} 1' m.prom && break; sleep 0.05; done &&
            kill $! && wait $!
            """
        let outcome = try Program.run("/bin/sh", ["-c", script, directory.path, Program.built("rekey")])
        #expect(outcome.status == 0 && outcome.output.contains("generation 1: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("No such file or directory"))
    }

    /// Puts an rclone in a directory of PATH whose remote is `there` in this one; it fails as often as `failures` has lines.
    private func makeRemote() throws {
        _ = try Program.run("/bin/mkdir", [directory.file("bin"), directory.file("there")])
        let program = """
            #!/bin/sh
            cd '\(directory.path)' || exit 1
            if [ -s failures ]; then sed -i 1d failures; echo away >&2; exit 1; fi
            place() { case $1 in there:*) echo "there/${1#there:}";; *) echo "$1";; esac; }
            for last; do :; done
            path=$(place "$last")
            case $1 in
            lsf)
                test -d "$path" || exit 3
                case "$*" in
                *--min-age*) find "$path" -maxdepth 1 -type f -mmin +1440 -printf '%f\\n';;
                *--format*) find "$path" -maxdepth 1 -type f -printf '%s %f\\n';;
                *) find "$path" -maxdepth 1 -type f -printf '%f\\n';;
                esac;;
            cat) test -f "$path" || exit 4; tail -c +$(($3 + 1)) "$path" | head -c "$5";;
            copyto) mkdir -p "$(dirname "$path")" && cp "$(place "$3")" "$path";;
            moveto) mkdir -p "$(dirname "$path")" && mv "$(place "$3")" "$path";;
            deletefile) rm "$path" || exit 4;;
            esac
            """
        _ = try directory.write(program.utf8, to: "bin/rclone", mode: 0o700)
    }

    private func rekeyRemotely(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey(arguments, in: directory, before: "export PATH=\"$0/bin:$PATH\"")
    }

    /// They may be of a backup that runs now, which no lock keeps from a server.
    @Test func pruneSparesNewSegmentsOfServer() throws {
        try makeRemote()
        #expect(try rekeyRemotely("backup a.db rclone:there:x --key-file k").status == 0)
        let segment = try directory.write([1], to: "there/x/segments/" + String(repeating: "0", count: 32))
        #expect(try rekeyRemotely("backups prune rclone:there:x --keep 1").status == 0)
        #expect(FileManager.default.fileExists(atPath: segment))
        _ = try Program.run("/usr/bin/env", ["touch", "-t", "202001010000", segment])
        #expect(try rekeyRemotely("backups prune rclone:there:x --keep 1").status == 0)
        #expect(!FileManager.default.fileExists(atPath: segment))
        #expect(try rekeyRemotely("backups check rclone:there:x --key-file k").status == 0)
    }

    @Test func serverThatFailsOnceIsAskedAgain() throws {
        try makeRemote()
        #expect(try rekeyRemotely("backup a.db rclone:there:x --key-file k").status == 0)
        for (failures, status) in [(1, 0), (3, 0), (5, 74)] as [(Int, Int32)] {
            _ = try directory.write(String(repeating: "1\n", count: failures).utf8, to: "failures")
            #expect(try rekeyRemotely("backups rclone:there:x").status == status, "\(failures) failures")
        }
    }

    /// An rclone that does not answer, in a directory of PATH.
    @Test(arguments: ["backup a.db rclone:there:x --key-file k", "backup a.db rclone:there:x --key-file k --follow"])
    func hangingProgramIsEndedAfterSignal(command: String) throws {
        _ = try Program.run("/bin/mkdir", [directory.file("bin")])
        let program = """
            #!/bin/sh
            trap '' TERM
            cd '\(directory.path)'
            echo $$ > child
            for i in $(seq 150); do sleep 0.1; done
            echo > ended
            """
        _ = try directory.write(program.utf8, to: "bin/rclone", mode: 0o700)
        let script = """
            cd "$0" && PATH="$0/bin:$PATH" && { "$1" \(command) & } &&
            for i in $(seq 400); do test -s child && break; sleep 0.05; done && kill $! && wait $!
            status=$?; kill -0 $(cat child) 2> /dev/null && echo lives; echo $status
            """
        let outcome = try Program.run("/bin/sh", ["-c", script, directory.path, Program.built("rekey")])
        #expect(outcome.output == (command.contains("follow") ? "0\n" : "130\n"), "\(outcome.output)\(outcome.errors)")
        #expect(!directory.names.contains("ended"))
    }

    @Test func followingEndsIfFirstBackupFails() throws {
        #expect(try rekey("backup missing.db repository --follow").status == 66)
        #expect(try rekey("backup a.db repository --key-file other --follow").status == 77)
        #expect(try rekey("backup a.db repository --interval 1").status == 64)
        #expect(try rekey("backup a.db repository --follow --interval 0").status == 64)
    }
}
