#!/usr/bin/env python3
"""The drill of Examples/NotesService: 64 connections write and read while the service is killed, its disk is full, its key rotated, and two
backups run; then every note that was acknowledged is looked for, in the database and in both backups.

    drill.py --service NotesService --rekey rekey [--minutes 10] [--kills 10] [--connections 64] [--disk-mib 1024] [--seed 1]

It mounts a tmpfs for the database, so it runs as root on Linux. Exit status 1 where a promise was broken.
"""

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--service", required=True)
options.add_argument("--rekey", required=True)
options.add_argument("--minutes", type=float, default=10)
options.add_argument("--kills", type=int, default=10)
options.add_argument("--full", type=int, default=3, help="how often the disk is full, for 10 s each")
options.add_argument("--rotations", type=int, default=3)
options.add_argument("--connections", type=int, default=64)
options.add_argument("--disk-mib", type=int, default=1024)
options.add_argument("--seed", type=int, default=1)
options = options.parse_args()
chance = random.Random(options.seed)

root = tempfile.mkdtemp(prefix="notes-drill-")
disk, log_path = root + "/disk", root + "/log"
database, passphrase = disk + "/notes.db", root + "/passphrase"
os.mkdir(disk)
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={options.disk_mib}m", "tmpfs", disk], check=True)
with open(passphrase, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
    file.write("correct horse battery staple")
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

state = threading.Lock()
acknowledged = {}
counts = {"written": 0, "read": 0, "refused": 0, "broken": 0}
latencies = []
failed_at = 0.0
wrong = []
ended = threading.Event()


class Service:
    def __init__(self):
        self.process, self.log = None, open(log_path, "ab")

    def start(self):
        environment = dict(os.environ, BACKUP_REPOSITORY=root + "/continuous", SWIFT_BACKTRACE="enable=no")
        began = time.monotonic()
        self.process = subprocess.Popen(
            [options.service, database, passphrase, str(port)], stderr=self.log, stdout=self.log, env=environment
        )
        while time.monotonic() - began < 60:
            try:
                ask("GET", "/health")
                return time.monotonic() - began
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"the service does not start: {open(log_path).read()[-2000:]}")
                time.sleep(0.02)
        raise SystemExit("the service does not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def ask(method, path, body=None, connection=None):
    own = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    own.request(method, path, body, {"content-type": "application/json"} if body else {})
    answer = own.getresponse()
    content = answer.read()
    if connection is None:
        own.close()
    return answer.status, content


def client(number):
    global failed_at
    connection, count = None, 0
    while not ended.is_set():
        text = f"note {count} of client {number} " + "x" * ((count * 37) % 200)
        count += 1
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            began = time.monotonic()
            body = json.dumps({"author": f"client {number}", "text": text})
            status, content = ask("POST", "/notes", body, connection)
            took = time.monotonic() - began
            with state:
                latencies.append(took)
                if status == 201:
                    identifier = json.loads(content)["id"]
                    acknowledged[identifier] = text
                    counts["written"] += 1
                else:
                    failed_at = time.monotonic()
                    counts["refused"] += 1
                    if status != 503:
                        wrong.append(f"a write answered {status}")
            if status == 201:
                status, content = ask("GET", f"/notes/{identifier}", None, connection)
                with state:
                    counts["read"] += 1
                    if status == 200 and json.loads(content)["text"] != text or status not in (200, 503):
                        wrong.append(f"note {identifier} was read with {status}")
            else:
                # As a client that is told to try again does.
                time.sleep(0.02)
        except (OSError, http.client.HTTPException):
            with state:
                counts["broken"] += 1
            connection = None
            time.sleep(0.05)


health = {"asked": 0, "healthy": 0, "unhealthy": 0, "false": 0}


def watch():
    while not ended.is_set():
        began = time.monotonic()
        try:
            status, _ = ask("GET", "/health")
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
            continue
        with state:
            health["asked"] += 1
            health["healthy" if status == 200 else "unhealthy"] += 1
            # A write that had failed before the question was asked.
            if status == 200 and 0 < began - failed_at < 3:
                health["false"] += 1
                print(f"healthy {began - failed_at:.1f} s after a failed write, answered after {time.monotonic() - began:.1f} s")
        time.sleep(0.1)


def fill():
    """Takes all of the room."""
    with open(disk + "/filler", "wb", buffering=0) as filler:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                pass


def notes(path):
    subprocess.run(
        [options.rekey, "decrypt", path, "--yes-write-plaintext", "--keyring", database + ".keyring",
         "--passphrase-file", passphrase],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    with sqlite3.connect(path) as opened:
        return dict(opened.execute("SELECT id, text FROM notes"))


def completed():
    """The time until which the backup of the other process is complete."""
    try:
        with open(root + "/followed.prom") as file:
            found = re.search(r"^rekey_backup_complete_until_timestamp_seconds\S* (\S+)$", file.read(), re.MULTILINE)
    except OSError:
        return 0
    return float(found.group(1)) if found else 0


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] * 1000


service = Service()
try:
    first = service.start()
    follower = subprocess.Popen(
        [options.rekey, "backup", database, root + "/followed", "--at-least", "0", "--follow", "--quiet", "--prometheus", root + "/followed.prom",
         "--keyring", database + ".keyring", "--passphrase-file", passphrase],
        stdout=open(root + "/follower", "wb"), stderr=subprocess.STDOUT,
    )
    events = ["kill"] * options.kills + ["full"] * options.full + ["rotate"] * options.rotations
    chance.shuffle(events)
    pause = options.minutes * 60 / (len(events) + 1)
    threads = [threading.Thread(target=client, args=(number,), daemon=True) for number in range(options.connections)]
    threads.append(threading.Thread(target=watch, daemon=True))
    began = time.monotonic()
    for thread in threads:
        thread.start()
    starts = []
    for number, event in enumerate(events):
        while time.monotonic() < began + pause * (number + 1):
            time.sleep(0.02)
        print(f"{time.monotonic() - began:6.1f} s  {event}: {counts['written']} notes", flush=True)
        if event == "kill":
            service.kill()
            # What failed before says nothing of the next process.
            with state:
                failed_at = 0.0
            starts.append(service.start())
        elif event == "rotate":
            service.process.send_signal(signal.SIGHUP)
        else:
            refused = counts["refused"]
            fill()
            time.sleep(10)
            if counts["refused"] == refused:
                wrong.append("no write failed on a full disk")
            os.unlink(disk + "/filler")
    while time.monotonic() < began + options.minutes * 60:
        time.sleep(0.1)
    ended.set()
    for thread in threads:
        thread.join(180)
    seconds = time.monotonic() - began
    written = time.time()
    while completed() < written and time.time() < written + 120:
        time.sleep(0.1)
    print(f"the backup of the other process had the last note after {time.time() - written:.0f} s")
    follower.send_signal(signal.SIGTERM)
    follower.wait(120)
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(120)

    shutil.copy(database, root + "/copy.db")
    found = {"database": notes(root + "/copy.db")}
    for name in ("continuous", "followed"):
        path = f"{root}/{name}.db"
        subprocess.run(
            [options.rekey, "restore", root + "/" + name, path, "--keyring", database + ".keyring", "--passphrase-file", passphrase],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        found[name] = notes(path)
    for name, stored in found.items():
        lost = [identifier for identifier, text in acknowledged.items() if stored.get(identifier) != text]
        print(f"{name}: {len(stored)} notes, {len(lost)} of {len(acknowledged)} acknowledged ones lost")
        if lost:
            wrong.append(f"{name} lost {len(lost)} notes, such as {lost[:3]}")

    log = open(log_path, errors="replace").read()
    failures = [line for line in log.splitlines() if "a read or write failed" in line]
    causes = {}
    for line in failures:
        code = re.search(r"code=(\w+)", line)
        causes.setdefault(code.group(1) if code else "?", []).append(line)
    logged_errors = sum(1 for line in log.splitlines() if " error " in line)
    print(f"{seconds:.0f} s, {options.connections} connections: {counts['written']} writes, {counts['read']} reads, "
          f"{counts['refused']} refused, {counts['broken']} connections broken by kills")
    print(f"{(counts['written'] + counts['read']) / seconds:.0f} requests/s; writes: median {percentile(latencies, .5):.0f} ms, "
          f"99 % {percentile(latencies, .99):.0f} ms, longest {max(latencies) * 1000:.0f} ms")
    print(f"starts: {first:.2f} s, after kills {', '.join(f'{start:.2f}' for start in starts)} s")
    print(f"health: {health}")
    print(f"log: {len(failures)} lines of failed reads and writes, {logged_errors} lines of errors in all")
    for code, lines in causes.items():
        print(f"  {code}: {lines[0]}")
        if any("cause=" not in line for line in lines):
            wrong.append(f"an error without a cause: {lines[0]}")
    if counts["refused"] and not failures:
        wrong.append("writes were refused without a line in the log")
    if options.full and "full" not in causes:
        wrong.append("the log does not say that the disk was full")
    if health["false"]:
        wrong.append(f"health was 200 {health['false']} times while writes failed")
finally:
    if service.process and service.process.poll() is None:
        service.kill()
    subprocess.run(["umount", "-l", disk])
    if wrong:
        print(f"kept: {root}")
    else:
        shutil.rmtree(root)
for problem in wrong[:20]:
    print(f"WRONG: {problem}", file=sys.stderr)
sys.exit(1 if wrong else 0)
