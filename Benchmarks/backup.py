#!/usr/bin/env python3
"""Times rekey backup against rekey copy by turns, and compares what is stored with restic's.

    backup.py [REKEY [MIB]]      the command (.build-release/stage/rekey), and the size of the database (1024)

In each round ten rows of a database on tmpfs are changed; then it is backed up and copied. restic stores the first and the last copy.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5


def size(directory):
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


def main():
    import sqlcipher3
    rekey = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build-release/stage/rekey")
    mib = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        work = pathlib.Path(directory)
        key, path, repository = work / "key", work / "v.db", work / "repository"
        key.write_bytes(os.urandom(32))
        key.chmod(0o600)
        connection = sqlcipher3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA key = \"x'{key.read_bytes().hex()}'\"")
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB)")
        rows = mib * 1024 // 4
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO t (x) VALUES (randomblob(3500))", (() for _ in range(rows)))
        connection.execute("COMMIT")

        def timed(*arguments):
            began = time.monotonic()
            subprocess.run([rekey, *map(str, arguments), "--quiet"], check=True, stdout=subprocess.DEVNULL)
            return time.monotonic() - began

        first = timed("backup", path, repository, "--key-file", key)
        whole = size(repository)
        ratios, stored, keyless = [], [], []
        for number in range(ROUNDS):
            connection.execute("UPDATE t SET x = randomblob(3500) WHERE id % ? = ?", (rows // 10, number))
            before = size(repository)
            backup = timed("backup", path, repository, "--key-file", key)
            stored.append(size(repository) - before)
            copy = work / f"copy{number}.db"
            ratios.append(backup / timed("copy", path, copy, "--key-file", key))
            if 0 < number < ROUNDS - 1:
                copy.unlink()
        restored = timed("restore", repository, work / "restored.db", "--key-file", key)
        print(f"{path.stat().st_size} bytes, {rows} rows, {ROUNDS} rounds, {os.cpu_count()} cores")
        print(f"first backup: {first:.2f} s, {whole} bytes; restore with proof: {restored:.2f} s")
        print(f"ten rows changed: {statistics.median(stored):.0f} bytes stored ({statistics.median(stored) / path.stat().st_size:.4%})")
        print(f"time over rekey copy: {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
        if shutil.which("restic"):
            environment = dict(os.environ, RESTIC_PASSWORD="x", RESTIC_CACHE_DIR=str(work / "cache"))
            sizes = []
            subprocess.run(["restic", "init", "-q", "-r", work / "restic"], env=environment, check=True, stdout=subprocess.DEVNULL)
            for copy in (work / "copy0.db", work / f"copy{ROUNDS - 1}.db"):
                subprocess.run(["restic", "backup", "-q", "-r", work / "restic", copy], env=environment, check=True)
                sizes.append(size(work / "restic"))
            print(f"restic of two copies: {sizes[0]} bytes, then {sizes[1] - sizes[0]} bytes more")
        else:
            print("restic is not installed: nothing to compare what is stored with")


if __name__ == "__main__":
    main()
