#!/usr/bin/env python3
"""Five years of a database in ten minutes: generations, rotations, changed passphrases, lost machines, full disks and restores to a date, in an
order that the seed gives; then every generation that is listed must open with one passphrase of today, with the rows that it had.

    life.py --rekey rekey [--seed 1] [--generations 2000] [--rotations 60] [--lost 20] [--full 10] [--dates 5] [--keep 200]

It mounts two tmpfs as the disks of the machine and of the backups, so it runs as root on Linux; Python needs sqlcipher3. Exit status 1 where something was lost.
"""

import argparse
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import sqlcipher3

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--rekey", required=True)
options.add_argument("--seed", type=int, default=1)
options.add_argument("--generations", type=int, default=2000)
options.add_argument("--rotations", type=int, default=60)
options.add_argument("--lost", type=int, default=20)
options.add_argument("--full", type=int, default=10)
options.add_argument("--dates", type=int, default=5)
options.add_argument("--keep", type=int, default=200)
options = options.parse_args()
chance = random.Random(options.seed)

root = tempfile.mkdtemp(prefix="life-")
machine, backups, secrets = root + "/machine", root + "/backups", root + "/secrets"
disks = {machine: "16m", backups: "256m"}
for place, size in disks.items():
    os.mkdir(place)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
os.mkdir(secrets)
repository = backups + "/repository"
database, keyring = machine + "/life.db", machine + "/life.db.keyring"

# What each generation has, and when it was stored.
expected, times, wrong, counts = {}, {}, [], {}


def rekey(*arguments, mayfail=False):
    done = subprocess.run([options.rekey, *arguments], capture_output=True, text=True)
    if done.returncode and not mayfail:
        wrong.append(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
    return done


def secret(name, text):
    path = f"{secrets}/{name}"
    with open(path, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(text)
    return path


own = secret("own", os.urandom(32).hex())
present = ["--passphrase-file", secret("ada", os.urandom(8).hex())]
cheap = secret("machine", os.urandom(32).hex())


def connect():
    key = rekey("keyring", "unlock", database, *with_machine(), "--export-raw-key").stdout.strip()
    connection = sqlcipher3.connect(database, isolation_level=None)
    connection.execute(f"PRAGMA key = \"x'{key}'\"")
    connection.execute("PRAGMA journal_mode = wal")
    return connection


def with_machine():
    """The secret of the machine, a key file, which costs no derivation."""
    return ["--key-file", cheap, "--slot", "2"]


def with_passphrase():
    """The secret that a person has, which is derived."""
    return present + ["--slot", "1"]


def state(connection):
    """The rows and their sum."""
    return connection.execute("SELECT count(*), total(value) FROM life").fetchone()


def make():
    connection = sqlcipher3.connect(database, isolation_level=None)
    connection.execute(f"PRAGMA key = \"x'{open(own).read()}'\"")
    connection.execute("CREATE TABLE life (id INTEGER PRIMARY KEY, value INTEGER, note BLOB)")
    connection.close()
    rekey("keyring", "init", database, "--key-file", own, "--new-passphrase-file", present[1])
    rekey("keyring", "add", database, *present, "--new-key-file", cheap)


def write():
    connection.execute("BEGIN")
    for _ in range(chance.randint(1, 5)):
        connection.execute("INSERT INTO life (value, note) VALUES (?, ?)",
                           (chance.randint(1, 1 << 30), chance.randbytes(chance.randint(10, 400))))
    if chance.random() < 0.3:
        connection.execute("DELETE FROM life WHERE id IN (SELECT id FROM life ORDER BY random() LIMIT 10)")
    connection.execute("COMMIT")


def back_up_now(mayfail=False):
    return rekey("backup", database, repository, "--keyring", keyring, *with_machine(), "--keep", str(options.keep),
                 "--json", mayfail=mayfail)


def note(stored):
    """What the generation has that was stored now."""
    # Also by a run that failed behind that, as at the removal of others.
    number = json.loads(rekey("backups", "list", repository, "--json").stdout)["generations"][-1]["number"]
    if stored.returncode == 0 or number not in expected:
        expected[number], times[number] = state(connection), times.get(number, time.time())


def back_up():
    note(back_up_now())


def backup():
    write()
    back_up()


def rotate(mayfail=False):
    global connection
    connection.close()
    done = rekey("keyring", "rotate", database, *with_machine(), mayfail=mayfail)
    if not mayfail:
        connection = connect()
    return done.returncode


def change(mayfail=False):
    global present
    new = secret(f"ada-{len(os.listdir(secrets))}", os.urandom(8).hex())
    done = rekey("keyring", "change", database, *present, "--slot", "1", "--new-passphrase-file", new, mayfail=mayfail)
    if done.returncode == 0:
        present = ["--passphrase-file", new]
    return done.returncode


def lose():
    """All but the repository and the secrets is lost. What was committed after the last backup is lost with it."""
    global connection
    back_up()
    connection.close()
    for name in os.listdir(machine):
        os.remove(f"{machine}/{name}")
    rekey("restore", repository, database, "--keyring", keyring, *with_passphrase())
    connection = connect()
    newest = max(expected)
    if state(connection) != expected[newest]:
        wrong.append(f"after the loss of a machine: {state(connection)} in place of {expected[newest]}")


def date():
    """The rows of a moment, beside the database."""
    listed = [each["number"] for each in json.loads(rekey("backups", "list", repository, "--json").stdout)["generations"]]
    number = chance.choice(listed)
    # A time has whole seconds: of several generations in one, the last is meant.
    moment = datetime.datetime.fromtimestamp(int(times[number]) + 1, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    check(["--at", moment], {each for each in listed if int(times[each]) + 2 >= int(times[number])})


def full():
    """One of the disks is full: writes, rotations, changes or backups fail, and nothing that was there is lost."""
    global connection
    before = state(connection)
    disk = chance.choice(list(disks))
    with open(disk + "/filler", "wb", buffering=0) as filler:
        try:
            while filler.write(bytes(1 << 12)):
                pass
        except OSError:
            pass
    try:
        write()
        before = None
    except sqlcipher3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    connection.close()
    for name, status in (("rotate", rotate(mayfail=True)), ("change", change(mayfail=True))):
        event = f"{name} beside a full disk of the {os.path.basename(disk)}: {status}"
        counts[event] = counts.get(event, 0) + 1
    stored = back_up_now(mayfail=True)
    os.remove(disk + "/filler")
    connection = connect()
    note(stored)
    if before and state(connection) != before:
        wrong.append(f"after a full disk: {state(connection)} in place of {before}")


def check(choice, numbers):
    """Restores to an empty place with one passphrase, and compares the rows."""
    place = tempfile.mkdtemp(dir=root)
    try:
        restored = place + "/new.db"
        done = rekey("restore", repository, restored, *choice, "--keyring", restored + ".keyring", *with_passphrase(),
                     "--json")
        if done.returncode:
            return
        number = json.loads(done.stdout)["generation"]["number"]
        key = rekey("keyring", "unlock", restored, *with_machine(), "--export-raw-key").stdout.strip()
        opened = sqlcipher3.connect(restored)
        opened.execute(f"PRAGMA key = \"x'{key}'\"")
        found = state(opened)
        opened.close()
        if number not in numbers or found != expected[number]:
            wrong.append(f"{choice}: generation {number} has {found} in place of {expected.get(number)}")
    finally:
        shutil.rmtree(place)


began = time.time()
try:
    make()
    connection = connect()
    events = ([backup] * options.generations + [rotate] * options.rotations + [lose] * options.lost + [full] * options.full
              + [date] * options.dates + [change] * 10)
    chance.shuffle(events)
    backup()
    for number, event in enumerate(events):
        event()
        counts[event.__name__] = counts.get(event.__name__, 0) + 1
        if number % 200 == 0:
            print(f"{time.time() - began:5.0f} s, {number} of {len(events)}, {len(wrong)} wrong", flush=True)
    back_up()
    connection.close()
    checked = rekey("backups", "check", repository, "--keyring", keyring, *with_machine(), "--json")
    listed = json.loads(checked.stdout)["sound"]
    if len(listed) != options.keep:
        wrong.append(f"{len(listed)} generations can be restored, {options.keep} were to be kept")
    for number in listed:
        check(["--generation", str(number)], {number})
    print(f"seed {options.seed}: {counts}; {len(expected)} generations, {len(listed)} listed, keyrings stored: "
          f"{len(os.listdir(repository + '/keyrings'))}, {len(wrong)} wrong, {time.time() - began:.0f} s")
    for line in wrong[:20]:
        print("  " + line)
finally:
    for place in disks:
        subprocess.run(["umount", place])
    shutil.rmtree(root, ignore_errors=True)
sys.exit(1 if wrong else 0)
