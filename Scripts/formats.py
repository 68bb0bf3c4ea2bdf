#!/usr/bin/env python3
"""Writes Documentation/Formats.md: which files of other programs went through `rekey`, and what became of them.

usage: Scripts/formats.py [--check] [--engine VERSION]… [REKEY]

REKEY is the command as it was built, .build-test/release/rekey unless named. The files are those of Tests/FormatMatrix; each engine of
.engines with format 4 is tried unless some are named. A step that failed, or another outcome on another engine, is an error; with --check so is a table that is not the one in the repository.
"""
import argparse, json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "Documentation/Formats.md")
MATRIX = os.path.join(ROOT, "Tests/FormatMatrix/matrix.py")
sys.path.insert(0, os.path.dirname(MATRIX))
sys.dont_write_bytecode = True
from passage import DONE, REFUSED, STEPS, has_foreign_mac_key  # noqa: E402
from parameters import Parameters  # noqa: E402

HEAD = """# Formats that were tried

Made by `Scripts/formats.py` in `make torture`; do not edit. Other programs wrote %d small files with the parameters that SQLCipher has
([Testing.md](Testing.md#the-matrix-of-formats)). `rekey` on SQLCipher %s did each step with a copy of each, with the same outcome on each
of these engines. The results of `change`, `migrate`, `recover`, `copy` and `encrypt` were read by a stock shell of SQLCipher or by SQLite3 Multiple
Ciphers, those of `decrypt` by SQLite; the rows were the same each time.

* *found*: `rekey inspect` printed every parameter. It was told iterations other than 4,000, 64,000 and 256,000, HMAC salt masks other than 3a and, with a
  passphrase, 00, `fast_kdf_iter` other than 2, and that there are no MACs, but for format 1 with a passphrase. *told*: all parameters were given as options.
* *decrypt* made a plaintext file, and *encrypt* brought that into the parameters of the cell again.
* 0 stands for what no file of the row is for; a number after a plus sign is how many were refused with the reason.

"""
NAMES = {"inspect": "found", "inspect-told": "told"}
LIMITS = {
    "another cipher": "`PRAGMA cipher` of SQLCipher 3. Refused: `otherCipher` for ciphers with a key of 32 bytes, `wrongKey` for others.",
    "another layout": "`PRAGMA legacy = 0` of SQLite3 Multiple Ciphers. Refused as `otherLayout`.",
    "key with its own HMAC key": "Raw keys of 160 digits, SQLCipher 4.7 and later. No such key is accepted.",
    "first page wholly in plaintext": "`cipher_plaintext_header_size` of the page size less the reserve: page 1 proves no key, and is damaged to CipherDB.",
    "no MACs behind a header over 80 bytes": "What proves a key without MACs, bytes 72 to 91, is in plaintext.",
}
STEP_LIMITS = [
    "* Pages without MACs: `change` refuses them unless it writes `--in-place`, `copy` and `encrypt` refuse them under a raw key; `migrate` and "
    "`recover` bring them to format 4.",
    "* HMAC keys by another hash than the KDF's under a passphrase (`hmac_algorithm_compat = 0`): no SQLCipher opens them. `verify` needs "
    "`--pages-only`, `copy` refuses, `migrate` writes the nearest format that SQLCipher has; with a WAL beside the file only `inspect` and "
    "`recover` work. Under a raw key they are files of SQLCipher.",
    "* A header behind which the MACs of format 4 have no room: `migrate` needs `--plaintext-header`.",
    "* Pages of 512 bytes: `encrypt` refuses, because SQLCipher 4 cannot fill them.",
]


def rows(cell):
    """The rows of the table that a cell belongs to."""
    each = cell["parameters"]
    yield "writer", {"SQLite3MC": "SQLite3 Multiple Ciphers"}.get(cell["writer"], "SQLCipher " + cell["writer"])
    yield "key", cell["key_kind"]
    yield "journal mode", cell["journal"]
    yield "`cipher_page_size`", each["page_size"]
    yield "`cipher_kdf_algorithm`", each["kdf_algorithm"]
    yield "`kdf_iter`", each["kdf_iter"]
    yield "`cipher_hmac_algorithm`", each["hmac_algorithm"] or "none"
    yield "`cipher_hmac_pgno`", each["hmac_pgno"]
    yield "`cipher_hmac_salt_mask`", "%02x" % each["hmac_salt_mask"]
    yield "`fast_kdf_iter`", each["fast_kdf_iter"]
    yield "HMAC key by", "another hash" if has_foreign_mac_key(Parameters(**each)) else "the KDF's hash"
    yield "`cipher_plaintext_header_size`", each["plaintext_header"]
    yield "reserved bytes of SQLite", "more than needed" if cell["reserved"] > cell["reserve"] else "as needed"


def run(command, version):
    """What came of each cell on an engine."""
    libraries = subprocess.run([os.path.join(ROOT, "Scripts/with-engine.sh"), "--libraries", version], check=True, capture_output=True, text=True)
    environment = os.environ | {"LD_LIBRARY_PATH": libraries.stdout.strip()}
    with tempfile.TemporaryDirectory() as directory:
        results = os.path.join(directory, "results.json")
        subprocess.run([MATRIX, "write", directory], check=True)
        done = subprocess.run([MATRIX, "through", os.path.join(directory, "manifest.json"), "--rekey", command, "--results", results],
                              env=environment)
        if done.returncode:
            sys.exit("formats: failures on SQLCipher %s" % version)
        with open(results) as file:
            return sorted(json.load(file), key=lambda result: result["cell"]["file"])


def table(results, engines):
    lines = [HEAD % (len(results), ", ".join(engines))]
    counts = {}
    for result in results:
        for row in rows(result["cell"]):
            count = counts.setdefault(row, {"files": 0, "limit": 0} | {step: [0, 0] for step in STEPS})
            count["files"] += 1
            count["limit"] += result["limit"] is not None
            for step, outcome in result["steps"].items():
                count[step][outcome == REFUSED] += 1
    lines.append("| parameter | value | files | %s | limit |\n|---|---|---|%s---|\n"
                 % (" | ".join(NAMES.get(step, step) for step in STEPS), "---|" * len(STEPS)))
    order = list(dict.fromkeys(name for name, _ in counts))
    for name, value in sorted(counts, key=lambda row: (order.index(row[0]), (0, row[1]) if isinstance(row[1], int) else (1, row[1]))):
        count = counts[name, value]
        cells = ["%d%s" % (done, " + %d" % refused if refused else "") for done, refused in (count[step] for step in STEPS)]
        lines.append("| %s | %s | %d | %s | %d |\n" % (name, value, count["files"], " | ".join(cells), count["limit"]))
    lines.append("\n## Limits\n\n| limit | files | what it is |\n|---|---|---|\n")
    for limit, text in LIMITS.items():
        lines.append("| %s | %d | %s |\n" % (limit, sum(result["limit"] == limit for result in results), text))
    return "".join(lines) + "\nWhat was refused in the steps of other files:\n\n" + "\n".join(STEP_LIMITS) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("rekey", nargs="?", default=os.path.join(ROOT, ".build-test/release/rekey"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--engine", action="append")
    options = parser.parse_args()
    command = os.path.abspath(options.rekey)
    engines = sorted((name for name in os.listdir(os.path.join(ROOT, ".engines"))
                      if name.startswith("4.") and name in (options.engine or [name])), key=lambda name: [int(part) for part in name.split(".")])
    if not engines:
        sys.exit("formats: no engines; run make engines")
    results = {version: run(command, version) for version in engines}
    first = results[engines[0]]
    for version in engines[1:]:
        for one, other in zip(first, results[version]):
            if one["steps"] != other["steps"]:
                sys.exit("formats: %s on %s: %s, on %s: %s"
                         % (one["cell"]["name"], engines[0], one["steps"], version, other["steps"]))
    text = table(first, engines)
    before = open(TABLE).read() if os.path.exists(TABLE) else ""
    if text != before:
        with open(TABLE, "w") as file:
            file.write(text)
    print("formats: %d files, %d steps done, %d refused, on each of %s" % (
        len(first), sum(outcome == DONE for result in first for outcome in result["steps"].values()),
        sum(outcome == REFUSED for result in first for outcome in result["steps"].values()), ", ".join(engines)))
    if options.check and text != before:
        sys.exit("formats: Documentation/Formats.md was not the table of this run; commit the new one")


main()
