#!/usr/bin/env python3
"""Writes the seeds of the fuzzing targets to Tests/Fuzzing/Corpus, by Python's SQLite and from the keyring's vectors."""

import hashlib
import pathlib
import shutil
import sqlite3
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "Tests/Fuzzing/Corpus"


def seed(target, name, content):
    directory = CORPUS / target
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)


def database(directory, mode):
    """A database with small pages whose last transaction stands in its journal or log, and its side file."""
    path = directory / f"{mode}.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(f"PRAGMA page_size = 512; PRAGMA journal_mode = {mode}; CREATE TABLE t (a, b); CREATE INDEX i ON t (a)")
    connection.executescript("BEGIN" + "; INSERT INTO t VALUES (1.5, 'text'), (2, x'00ff'), (NULL, -7)" * 20 + "; COMMIT")
    # A cache of one page writes to the file within the transaction, so that the journal is there to be copied.
    connection.executescript("PRAGMA cache_size = 1; BEGIN; UPDATE t SET a = 3; UPDATE t SET b = 'other'")
    side = path.with_name(path.name + ("-wal" if mode == "wal" else "-journal")).read_bytes()
    connection.execute("ROLLBACK")
    content = path.read_bytes()
    connection.close()
    return content, side


def main():
    shutil.rmtree(CORPUS, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        content, journal = database(pathlib.Path(name), "delete")
        _, log = database(pathlib.Path(name), "wal")
    seed("journal", "hot", journal[:8192])
    seed("log", "frames", log[:8192])
    seed("fileKind", "plaintext", content[:512])
    seed("header", "plaintext", content[:512])
    # Behind a plaintext header of 32 bytes, and with eight bytes of SQLite's header behind a salt, what looks encrypted.
    noise = b"".join(hashlib.sha512(bytes([number])).digest() for number in range(16))
    fields = bytes([4, 0, 1, 1, 80, 64, 32, 32])
    seed("search", "header", content[:16] + fields + bytes(8) + noise[32:])
    seed("search", "layout", noise[:16] + fields + noise[24:])
    for number in range(len(content) // 512):
        page = content[512 * number:512 * number + 512]
        if number < 8:
            seed("tree", f"page{number + 1}", bytes([1 if number == 0 else 0]) + page)
    seed("record", "values", bytes([5, 0, 1, 7, 17, 42]) + bytes(8) + b"x" + b"yz")
    seed("sql", "statement", b"-- a comment\n/* and one */ ; WITH x AS (SELECT 1) SELECT 'it''s' FROM \"x\"")
    seed("page", "zeros", bytes(512))
    for name in ["passphrase", "key-file", "two-slots"]:
        for path in sorted((ROOT / "Tests/CipherKeysTests/Vectors/Keyring").glob(f"*{name}*.txt"))[:3]:
            digits = path.read_text(encoding="ascii").partition("\n\n")[2]
            # Digest and code are put there by the target.
            seed("keyring", path.stem, bytes.fromhex(digits)[:-96])
    seed("hexadecimal", "digits", b"0123456789abcdefABCDEF")
    code = next(line.split(": ", 1)[1] for path in sorted((ROOT / "Tests/CipherKeysTests/Vectors/Keyring").glob("*.txt"))
                for line in path.read_text(encoding="ascii").splitlines() if line.startswith("recovery code: "))
    seed("recoveryCode", "code", code.encode())
    seed("uri", "parameters", b"file:///directory/a%20b.db?mode=ro&cache=private&immutable=1#fragment")


if __name__ == "__main__":
    main()
