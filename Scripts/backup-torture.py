#!/usr/bin/env python3
"""Backs a database up continuously while others write to it, kills backups and writers at random, and restores every generation.

    backup-torture.py REKEY [SECONDS]           the command, and how long writers write (600)
        --kills N --writer-kills N              kill the backup (300) and the writers (100) so often
        --keep N                                remove all generations but the newest so many (400) meanwhile
        --seed N

Each writer inserts numbered rows, each in a transaction that also counts them, and notes a number when its commit has returned, with the
time. Half-way the database is vacuumed, and its key is changed. In the end every generation that is listed must restore and verify; each
must have, of each writer, the numbers from 1 to some number without a gap and the same count; and all those that were noted before the
generation's state was read, but for the time that a look takes. The newest must be the database.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

WRITER = """
import os, sys, time, random
import sqlcipher3
path, key, number, notes = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
connection = sqlcipher3.connect(path, timeout=20, isolation_level=None)
connection.execute("PRAGMA key = \\"x'%s'\\"" % open(key).read())
notes = open(notes, "a", buffering=1)
value = connection.execute("SELECT count(*) FROM rows WHERE writer = ?", (number,)).fetchone()[0]
while True:
    value += 1
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO rows VALUES (?, ?, randomblob(?))", (number, value, random.randrange(10, 3000)))
    connection.execute("UPDATE counts SET n = ? WHERE writer = ?", (value, number))
    if random.random() < 0.05:
        connection.execute("UPDATE rows SET content = randomblob(500) WHERE writer = ? AND value % 50 = ?", (number, value % 50))
    connection.execute("COMMIT")
    notes.write("%d %f\\n" % (value, time.time()))
    time.sleep(random.random() * 0.02)
"""


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


class Torture:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.rekey = os.path.abspath(options.rekey)
        self.path, self.repository = work / "v.db", work / "repository"
        self.keys = []
        self.new_key()
        self.lags, self.failures = [], []
        self.kills = self.writer_kills = 0
        connection = self.connect(self.path)
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE rows (writer, value, content, PRIMARY KEY (writer, value))")
        connection.execute("CREATE TABLE counts (writer PRIMARY KEY, n)")
        connection.execute("INSERT INTO counts VALUES (1, 0), (2, 0)")
        connection.close()
        self.writers, self.follower = {}, None

    def new_key(self):
        file = self.work / f"key{len(self.keys)}"
        file.write_bytes(os.urandom(32))
        file.chmod(0o600)
        (self.work / f"hex{len(self.keys)}").write_text(file.read_bytes().hex())
        self.keys.append(file)

    def connect(self, path, key=None):
        import sqlcipher3
        connection = sqlcipher3.connect(path, timeout=20, isolation_level=None)
        connection.execute("PRAGMA key = \"x'%s'\"" % (key or self.keys[-1]).read_bytes().hex())
        return connection

    def run(self, *arguments):
        return subprocess.run([self.rekey, *map(str, arguments)], capture_output=True, text=True)

    def fail(self, text):
        self.failures.append(text)
        print(f"backup-torture: {text}", flush=True)

    # The processes

    def start_writer(self, number):
        key = self.work / f"hex{len(self.keys) - 1}"
        self.writers[number] = subprocess.Popen([sys.executable, "-c", WRITER, self.path, key, str(number), self.work / f"notes{number}"], stderr=open(self.work / "writers.log", "ab"))

    def start_follower(self):
        self.log = open(self.work / "follower.log", "ab")
        self.follower = subprocess.Popen(
            [self.rekey, "backup", self.path, self.repository, "--follow", "--interval", "0.1", "--key-file", self.keys[-1], "--json", "--wait", "20", "--prometheus", self.work / "metrics",
             "--keep", str(self.options.keep)],
            stdout=self.log, stderr=self.log)

    def stop(self, process, how=signal.SIGKILL):
        process.send_signal(how)
        process.wait()

    def note_lag(self):
        try:
            lines = (self.work / "metrics").read_text().splitlines()
        except OSError:
            return
        self.lags += [float(line.split()[-1]) for line in lines if line.startswith("rekey_backup_lag_seconds")]

    # The parts

    def workload(self):
        options = self.options
        self.start_follower()
        for number in (1, 2):
            self.start_writer(number)
        began = time.monotonic()
        events = sorted([(random.random() * options.seconds, "backup") for _ in range(options.kills)]
                        + [(random.random() * options.seconds, "writer") for _ in range(options.writer_kills)]
                        + [(options.seconds * 0.4, "vacuum"), (options.seconds * 0.6, "key")])
        for moment, event in events:
            while time.monotonic() - began < moment:
                time.sleep(min(0.5, max(0.001, moment - (time.monotonic() - began))))
                self.note_lag()
            if event == "backup":
                self.stop(self.follower)
                self.kills += 1
                self.start_follower()
            elif event == "writer":
                number = random.choice((1, 2))
                if self.writers[number].poll() is not None:
                    self.fail(f"writer {number} ended by itself")
                self.stop(self.writers[number])
                self.writer_kills += 1
                self.start_writer(number)
            elif event == "vacuum":
                self.vacuum()
            else:
                self.change_key()
        while time.monotonic() - began < options.seconds:
            time.sleep(0.5)
            self.note_lag()
        for number, process in self.writers.items():
            if process.poll() is not None:
                self.fail(f"writer {number} ended by itself")
            self.stop(process)
        # What was committed last is stored by a look that follows.
        time.sleep(3)
        self.stop(self.follower, signal.SIGTERM)
        if self.follower.returncode != 0:
            self.fail(f"the backup ended with status {self.follower.returncode}")

    def vacuum(self):
        connection = self.connect(self.path)
        for _ in range(100):
            try:
                connection.execute("VACUUM")
                connection.close()
                return
            except Exception:
                time.sleep(0.05)
        self.fail("VACUUM never got its turn")

    def change_key(self):
        for process in self.writers.values():
            self.stop(process)
        old = self.keys[-1]
        self.new_key()
        done = self.run("change", self.path, "--key-file", old, "--new-key-file", self.keys[-1], "--wait", "30", "--quiet")
        if done.returncode != 0:
            return self.fail(f"the key was not changed: {done.stderr}")
        self.stop(self.follower)
        self.start_follower()
        for number in (1, 2):
            self.start_writer(number)

    # What must be true

    def state(self, path, key):
        connection = self.connect(path, key)
        found = {}
        for writer, count, low, high, n in connection.execute(
                "SELECT c.writer, count(r.value), min(r.value), max(r.value), n FROM counts c LEFT JOIN rows r ON r.writer = c.writer GROUP BY c.writer"):
            if count and (low != 1 or high != count) or n != count:
                self.fail(f"{path.name}: writer {writer} has {count} rows from {low} to {high}, and counted {n}")
            found[writer] = count
        connection.close()
        return found

    def judge(self):
        notes = {number: [line.split() for line in open(self.work / f"notes{number}") if line.count(" ") == 1 and line.endswith("\n")] for number in (1, 2)}
        listed = json.loads(self.run("backups", self.repository, "--json").stdout)["generations"]
        check = self.run("backups", "check", self.repository, "--quiet")
        if check.returncode != 0:
            self.fail(check.stdout + check.stderr)
        restored, missing = 0, 0
        for generation in listed:
            number, place = generation["number"], self.work / "restored.db"
            place.unlink(missing_ok=True)
            for key in reversed(self.keys):
                done = self.run("restore", self.repository, place, "--generation", number, "--key-file", key, "--quiet")
                if done.returncode == 0:
                    break
            if done.returncode != 0 or "proved:          yes" not in done.stdout:
                self.fail(f"generation {number} does not restore: {done.stdout}{done.stderr}")
                continue
            restored += 1
            state = self.state(place, key)
            # The time has whole seconds: what was noted a second before was committed when the state was read.
            read = time.mktime(time.strptime(generation["time"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
            for writer in (1, 2):
                due = [int(value) for value, moment in notes[writer] if float(moment) < read - 0.01]
                if due and due[-1] > state.get(writer, 0):
                    missing += 1
                    self.fail(f"generation {number} has {state.get(writer)} rows of writer {writer}, and {due[-1]} were committed before")
        now, newest = self.state(self.path, self.keys[-1]), self.state(place, key) if listed else {}
        if now != newest:
            self.fail(f"the newest generation has {newest}, the database {now}")
        print(f"backup-torture: seed {self.options.seed}: {sum(map(len, notes.values()))} commits noted, {restored} of {len(listed)} generations restored and proved, "
              f"{self.kills} backups and {self.writer_kills} writers killed, {missing} commits missing, lag p50 {percentile(self.lags, 0.5):.2f} s, p99 {percentile(self.lags, 0.99):.2f} s, "
              f"database {self.path.stat().st_size} bytes, repository {sum(each.stat().st_size for each in self.repository.rglob('*') if each.is_file())} bytes")
        left = [each for each in self.repository.rglob("*") if ".new-" in each.name]
        self.run("backup", self.path, self.repository, "--key-file", self.keys[-1])
        left = [each for each in left if each.exists()]
        if left:
            self.fail(f"left over: {left}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rekey")
    parser.add_argument("seconds", nargs="?", type=float, default=600)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--writer-kills", type=int, default=100)
    parser.add_argument("--keep", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as directory:
        torture = Torture(options, pathlib.Path(directory))
        try:
            torture.workload()
        finally:
            for process in [torture.follower, *torture.writers.values()]:
                if process and process.poll() is None:
                    process.kill()
                    process.wait()
        torture.judge()
        for name in ("follower.log", "writers.log") if torture.failures else ():
            print((pathlib.Path(directory) / name).read_text()[-3000:])
        sys.exit(1 if torture.failures else 0)


if __name__ == "__main__":
    main()
