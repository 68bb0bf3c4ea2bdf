#!/usr/bin/env python3
"""Times `rekey change` and `rekey verify` against the stock shell's PRAGMA rekey and PRAGMA cipher_integrity_check.

usage: Benchmarks/rekey.py [--sizes MiB,MiB,...] [--rounds N] [FOLDER ...]

In each FOLDER (a tmpfs and a disk unless given) a database of each size is made by the shell, and the two sides take turns on
it. Medians and ratios are printed, and the share of what the cryptography alone would take by `openssl speed`, one page after the
other, on all processors: with libipsec-mb more than that can be reached.
Then the passphrase of a keyring is changed, against one derivation of it, and the database must stay as it is.
The release build of rekey and the engine 4.6.1 of `make engines` are used.
"""
import argparse, hashlib, os, re, shutil, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENGINE = os.path.join(ROOT, ".engines", "4.6.1")
REKEY = os.path.join(ROOT, ".build-bench", "release", "rekey")
KEYS = ["01" * 32, "02" * 32]


def build():
    subprocess.run([os.path.join(ROOT, "Scripts/with-engine.sh"), "4.6.1", "swift", "build", "-q", "-c", "release",
                    "--product", "rekey", "--scratch-path", os.path.join(ROOT, ".build-bench")], cwd=ROOT, check=True)


def timed(command, script=None):
    """Seconds of one process, and its peak memory in MiB."""
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(ENGINE, "lib"))
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=environment)
    process.stdin.write((script or "").encode())
    process.stdin.close()
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - began
    if status or b"rror" in err:
        sys.exit("%s: %s" % (command, err.decode()))
    return took, usage.ru_maxrss / 1024


def shell(path, key, sql):
    return timed([os.path.join(ENGINE, "bin", "sqlcipher"), "-batch", path],
                 "PRAGMA key = \"x'%s'\";\n%s\n" % (KEYS[key], sql))


peak = 0


def rekey(*arguments):
    global peak
    took, memory = timed([REKEY, *arguments, "--quiet"])
    peak = max(peak, memory)
    return took


def openssl(*arguments):
    """Bytes in a second, of one processor, on pieces of 4,096."""
    out = subprocess.run(["openssl", "speed", "-seconds", "1", "-bytes", "4096", *arguments],
                         capture_output=True, text=True).stdout
    return float(re.findall(r"([\d.]+)k", out.splitlines()[-1])[-1]) * 1000


def make(path, size):
    rows = size * 1024 * 1024 // 1026
    shell(path, 0, """PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -200000;
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
        INSERT INTO t SELECT i, 'row ' || i, randomblob(950) FROM n;""" % rows)


def compare(directory, size, rounds, keyfiles, speeds):
    path = os.path.join(directory, "bench.db")
    make(path, size)
    count = os.path.getsize(path)
    names = ["change", "PRAGMA rekey", "verify", "cipher_integrity_check"]
    present, times = 0, {name: [] for name in names}
    # Each side runs twice in a row, and the second counts: a system that runs inside of another gives memory and blocks faster
    # that it has given before.
    for _ in range(rounds):
        for name in ["change", "PRAGMA rekey"]:
            for counts in [False, True]:
                os.sync()
                if name == "change":
                    took = rekey("change", path, "--key-file", keyfiles[present], "--new-key-file", keyfiles[1 - present])
                else:
                    took = shell(path, present, "PRAGMA rekey = \"x'%s'\";" % KEYS[1 - present])[0]
                present = 1 - present
                if counts:
                    times[name].append(took)
        times["verify"].append(rekey("verify", path, "--pages-only", "--key-file", keyfiles[present]))
        times["cipher_integrity_check"].append(shell(path, present, "PRAGMA cipher_integrity_check;")[0])
    medians = {name: statistics.median(values) for name, values in times.items()}
    cores = os.cpu_count()
    mac, encrypt, decrypt = speeds
    # Two codes and a decryption and encryption for the change, a third code for reading back.
    bounds = {"change": count * (3 / mac + 1 / decrypt + 1 / encrypt) / cores, "verify": count / mac / cores}
    print("%s: %d MB, %d rounds, %d processors" % (directory, count // 1000000, rounds, cores))
    for ours, theirs in [("change", "PRAGMA rekey"), ("verify", "cipher_integrity_check")]:
        print("  rekey %-7s %6.2f s, %s %6.2f s: %.1f times as fast; %.0f %% of the speed of OpenSSL's cryptography alone"
              % (ours, medians[ours], theirs, medians[theirs], medians[theirs] / medians[ours],
                 100 * bounds[ours] / medians[ours]))
    return present


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def change_passphrase(directory, rounds, keyfile):
    """The passphrase of the keyring of the database that is there, which is under `keyfile`."""
    path = os.path.join(directory, "bench.db")
    secrets = []
    for text in ["correct horse battery staple", "Tr0ub4dor&3"]:
        secrets.append(os.path.join(directory, "passphrase%d" % len(secrets)))
        with open(os.open(secrets[-1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
    rekey("keyring", "init", path, "--key-file", keyfile, "--new-passphrase-file", secrets[0])
    before = digest(path)
    changes, derivations = [], []
    for number in range(2 * rounds):
        old, new = secrets[number % 2], secrets[1 - number % 2]
        changes.append(rekey("keyring", "change", path, "--passphrase-file", old, "--new-passphrase-file", new))
        began = time.monotonic()
        hashlib.pbkdf2_hmac("sha512", b"correct horse battery staple", bytes(16), 256_000)
        derivations.append(time.monotonic() - began)
    took, derivation = statistics.median(changes), statistics.median(derivations)
    print("  rekey keyring change %.0f ms, the whole process; one derivation %.0f ms: %.2f times that; the database is %s"
          % (1000 * took, 1000 * derivation, took / derivation, "unchanged" if digest(path) == before else "CHANGED"))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[10, 100, 1000])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("directories", nargs="*", default=["/dev/shm", tempfile.gettempdir()])
    chosen = options.parse_args()
    build()
    speeds = (openssl("-hmac", "sha512"), openssl("-evp", "aes-256-cbc"), openssl("-decrypt", "-evp", "aes-256-cbc"))
    print("openssl speed, one processor, MB/s: HMAC-SHA512 %.0f, AES-256-CBC encryption %.0f, decryption %.0f"
          % tuple(speed / 1e6 for speed in speeds))
    for parent in chosen.directories:
        directory = tempfile.mkdtemp(prefix="cipherdb-bench-", dir=parent)
        try:
            keyfiles = []
            for number, key in enumerate(KEYS):
                keyfiles.append(os.path.join(directory, "key%d" % number))
                descriptor = os.open(keyfiles[-1], os.O_WRONLY | os.O_CREAT, 0o600)
                os.write(descriptor, key.encode())
                os.close(descriptor)
            for size in chosen.sizes:
                present = compare(directory, size, chosen.rounds, keyfiles, speeds)
                change_passphrase(directory, chosen.rounds, keyfiles[present])
                os.unlink(os.path.join(directory, "bench.db"))
                os.unlink(os.path.join(directory, "bench.db.keyring"))
        finally:
            shutil.rmtree(directory)
    print("peak memory of rekey: %.0f MiB" % peak)


if __name__ == "__main__":
    main()
