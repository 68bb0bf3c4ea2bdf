"""Other programs' engines, told which parameters a file has: the shells of .engines, and SQLite3 Multiple Ciphers in Python."""
import json
import os
import subprocess

from cells import MULTIPLE_CIPHERS
from parameters import Parameters

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = os.path.join(os.path.dirname(os.path.dirname(HERE)), ".engines")
PYTHON = os.path.join(ENGINES, "python/bin/python")

# The rows of a file, in two parts: the second stands in the log of a file whose log was not yet copied into it.
TABLES = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, note TEXT); CREATE INDEX people_name ON people (name);"
FIRST, LAST = 150, 200
QUERY = "SELECT count(*) || '|' || sum(id) || '|' || max(name) || '|' || sum(length(note)) FROM people;"


def rows(first, last):
    return ("WITH RECURSIVE n (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM n WHERE n < %d) "
            "INSERT INTO people SELECT n, 'Person-' || n, hex(n * 7919) || 'Ünicode' FROM n;" % (first, last))


def answer():
    """What QUERY must say of each file."""
    numbers = range(1, LAST + 1)
    length = sum(len(str(n * 7919)) * 2 + len("Ünicode") for n in numbers)
    return "|".join([str(LAST), str(sum(numbers)), max("Person-%d" % n for n in numbers), str(length)])


class Failure(Exception):
    """What an engine said."""


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def literal(kind, key):
    """A key as `PRAGMA key` takes it."""
    return quoted(key) if kind == "passphrase" else "\"x'%s'\"" % key


def needs_salt(cell):
    """Whether the salt is neither in the file nor in the key."""
    return bool(cell["parameters"].plaintext_header) and cell["key_kind"] not in ("raw96", "raw160")


class Shell:
    def __init__(self, version):
        self.name = version
        self.is_4 = version.startswith("4.")

    def close(self):
        """Each run is a process."""

    def can_read(self, cell):
        each = cell["parameters"]
        if each.mac_key_algorithm not in (None, each.kdf_algorithm):
            return False
        if cell["key_kind"] == "raw160" and self.name != "4.19.0":
            return False
        if self.is_4:
            return not (each.first_page_is_plaintext and self.name == "4.6.1")
        return each.kdf_algorithm == "sha1" and each.hmac_algorithm in ("sha1", None) and not each.plaintext_header

    def pragmas(self, cell):
        """(before the key, after it)"""
        each, algorithms = cell["parameters"], []
        mac = "cipher_use_hmac = %s" % ("ON" if each.hmac_algorithm else "OFF")
        before = []
        if self.is_4:
            algorithms = ["cipher_kdf_algorithm = PBKDF2_HMAC_%s" % each.kdf_algorithm.upper()]
            if each.hmac_algorithm:
                algorithms += ["cipher_hmac_algorithm = HMAC_%s" % each.hmac_algorithm.upper()]
            if cell.get("by_default") or each.page_size == 512:
                before = ["cipher_default_use_hmac = OFF"] if each.hmac_algorithm is None else \
                    ["cipher_default_hmac_algorithm = HMAC_%s" % each.hmac_algorithm.upper()]
        after = ["cipher = '%s'" % cell["cipher"]] if cell.get("cipher") else []
        after += ["cipher_page_size = %d" % each.page_size, mac, *algorithms, "kdf_iter = %d" % each.kdf_iter,
                  "fast_kdf_iter = %d" % each.fast_kdf_iter, "cipher_hmac_pgno = %s" % each.hmac_pgno,
                  "cipher_hmac_salt_mask = \"x'%02x'\"" % each.hmac_salt_mask]
        if each.plaintext_header:
            after += ["cipher_plaintext_header_size = %d" % each.plaintext_header]
            after += ["cipher_salt = \"x'%s'\"" % cell["salt"]] if needs_salt(cell) else []
        return before, after

    def run(self, cell, file, lines):
        before, after = self.pragmas(cell)
        script = "".join("PRAGMA %s;\n" % pragma for pragma in before)
        script += "PRAGMA key = %s;\n" % literal(cell["key_kind"], cell["key"])
        script += "".join("PRAGMA %s;\n" % pragma for pragma in after)
        # What is answered before is the pragmas'.
        script += "SELECT '--- results';\n" + "\n".join(lines) + "\n"
        shell = subprocess.run([os.path.join(ENGINES, self.name, "bin/sqlcipher"), "-batch", file], input=".bail on\n" + script,
                               capture_output=True, text=True, timeout=60, errors="replace")
        head, mark, results = shell.stdout.partition("--- results\n")
        if shell.returncode or not mark or "Error" in shell.stderr or "error near" in shell.stderr:
            raise Failure(shell.stderr.strip().splitlines()[-1] if shell.stderr.strip() else "status %d" % shell.returncode)
        return results.split()

    def write(self, cell, file):
        if cell["journal"] == "delete":
            return self.run(cell, file, ["BEGIN;", TABLES, rows(1, LAST), "COMMIT;"])
        # With a log that is copied while the connection is open, as a program that ends at once leaves it.
        copy = "; ".join("cp '%s%s' '%s%s'" % (file + ".open", side, file, side) for side in ("", "-wal", "-shm"))
        self.run(cell, file + ".open", ["PRAGMA journal_mode = wal;", "PRAGMA wal_autocheckpoint = 0;", "BEGIN;", TABLES, rows(1, FIRST),
                                        "COMMIT;", "PRAGMA wal_checkpoint(TRUNCATE);", rows(FIRST + 1, LAST), ".shell " + copy])
        os.remove(file + ".open")

    def read(self, cell, file):
        # Rows of cipher_integrity_check are errors; without MACs, or with none on page 1, it has some of a good file.
        has_all_macs = self.is_4 and cell["parameters"].hmac_algorithm and not cell["parameters"].first_page_is_plaintext
        return self.run(cell, file, [QUERY, "PRAGMA integrity_check;"] + ["PRAGMA cipher_integrity_check;"] * bool(has_all_macs))


class MultipleCiphers:
    name = MULTIPLE_CIPHERS
    NUMBERS = {"sha1": 0, "sha256": 1, "sha512": 2, "native": 0, "le": 1, "be": 2}

    def __init__(self):
        # One process for many files: it answers each line of JSON with one.
        self.process = subprocess.Popen([PYTHON, os.path.join(HERE, "multiple_ciphers.py")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def can_read(self, cell):
        each = cell["parameters"]
        # Its plaintext header is one of format 4, and 160 digits are a passphrase.
        return cell["key_kind"] != "raw160" and each.plaintext_header <= 96

    def pragmas(self, cell):
        each = cell["parameters"]
        if cell.get("legacy") == 0:
            return ["cipher = 'sqlcipher'", "legacy = 0"]
        pragmas = ["cipher = 'sqlcipher'", "legacy = 4", "legacy_page_size = %d" % each.page_size,
                   "kdf_algorithm = %d" % self.NUMBERS[each.kdf_algorithm], "kdf_iter = %d" % each.kdf_iter,
                   "hmac_use = %d" % (each.hmac_algorithm is not None), "fast_kdf_iter = %d" % each.fast_kdf_iter,
                   "hmac_algorithm = %d" % self.NUMBERS[each.hmac_algorithm or "sha512"], "hmac_pgno = %d" % self.NUMBERS[each.hmac_pgno],
                   "hmac_salt_mask = %d" % each.hmac_salt_mask, "hmac_algorithm_compat = %d" % (each.mac_key_algorithm is None)]
        if each.plaintext_header:
            pragmas += ["plaintext_header_size = %d" % each.plaintext_header]
            pragmas += ["cipher_salt = '%s'" % cell["salt"]] if needs_salt(cell) else []
        return pragmas

    def run(self, cell, file, statements, copy=None):
        pragmas = self.pragmas(cell) + ["key = " + literal(cell["key_kind"], cell["key"])]
        request = {"file": file, "statements": ["PRAGMA " + pragma for pragma in pragmas], "then": statements, "copy": copy}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("matrix: no SQLite3 Multiple Ciphers in .engines/python; run make engines")
        reply = json.loads(line)
        if "error" in reply:
            raise Failure(reply["error"])
        return reply["rows"]

    def write(self, cell, file):
        if cell["journal"] == "delete":
            return self.run(cell, file, ["BEGIN", TABLES, rows(1, LAST), "COMMIT"])
        self.run(cell, file + ".open", ["PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "BEGIN", TABLES, rows(1, FIRST),
                                        "COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)", rows(FIRST + 1, LAST)], copy=file)
        os.remove(file + ".open")

    def read(self, cell, file):
        return self.run(cell, file, [QUERY, "PRAGMA integrity_check"])


def parse(cell):
    """A cell of a manifest, with its parameters as such."""
    return cell | {"parameters": Parameters(**cell["parameters"])}
