#!/usr/bin/env python3
"""Backs a database up to real servers on this machine and restores it, while connections are cut at random.

    remotes.py REKEY [SECONDS [KIND…]]      the command, how long for each server (60), and which

The servers are SFTP and WebDAV by `rclone serve`, and S3 by moto from PyPI, because Debian builds rclone without a server of S3. The client is
the rclone of PATH; for S3 that of Debian's unstable release, because 1.60 of Debian 12 and 13 refuses S3 ("unsupported transport").
Between the two is a proxy that closes connections after a random number of bytes. Every
generation that a backup has reported must restore, through the proxy, to the rows that the database had; the check must find no problem.
"""

import contextlib
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

PACKAGES = "http://deb.debian.org/debian"
RELEASE = "sid"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Proxy:
    """Passes connections on, and closes some of them after a random number of bytes."""

    def __init__(self, target):
        self.target, self.cut, self.connections = target, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.cuts = True
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            with contextlib.suppress(OSError):
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                self.connections += 1
                budget = [int(10 ** random.uniform(2, 5.6)) if self.cuts and random.random() < 0.4 else None]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self.carry, args=(source, sink, budget), daemon=True).start()

    def carry(self, source, sink, budget):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if budget[0] is not None:
                    budget[0] -= len(data)
                    if budget[0] < 0:
                        self.cut += 1
                        break
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def newer_client(work):
    """The directory of an rclone that reaches S3, from the package of another release."""
    listing = subprocess.run(f"curl -sf {PACKAGES}/dists/{RELEASE}/main/binary-amd64/Packages.xz | xz -dc", shell=True, capture_output=True, text=True).stdout
    entry = next(entry for entry in listing.split("\n\n") if entry.startswith("Package: rclone\n"))
    name = next(line.split(": ")[1] for line in entry.splitlines() if line.startswith("Filename: "))
    package = work / "rclone.deb"
    package.write_bytes(urllib.request.urlopen(f"{PACKAGES}/{name}").read())
    subprocess.run(["dpkg-deb", "-x", package, work / "rclone"], check=True)
    return str(work / "rclone/usr/bin")


def object_store(work):
    """A server of S3 from PyPI, in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", work / "moto"], check=True)
    subprocess.run([work / "moto/bin/pip", "install", "-q", "moto[server]"], check=True, stderr=subprocess.DEVNULL)
    return str(work / "moto/bin/moto_server")


def obscured(text):
    return subprocess.run(["rclone", "obscure", text], capture_output=True, text=True, check=True).stdout.strip()


def remotes(work, only):
    """For each kind of server: its command line, and what the client is told of it."""
    password = obscured("secret")
    def wanted(kind):
        return not only or kind in only
    def served(kind, *options):
        directory, port = work / kind, free_port()
        directory.mkdir()
        return ["rclone", "serve", kind, directory, "--addr", f"127.0.0.1:{port}", *options], port
    if wanted("sftp"):
        command, port = served("sftp", "--user", "user", "--pass", "secret")
        yield "sftp", command, port, lambda port: dict(TYPE="sftp", HOST="127.0.0.1", PORT=port, USER="user", PASS=password, SHELL_TYPE="none"), "repository"
    if wanted("webdav"):
        command, port = served("webdav", "--user", "user", "--pass", "secret")
        yield "webdav", command, port, lambda port: dict(TYPE="webdav", URL=f"http://127.0.0.1:{port}", VENDOR="other", USER="user", PASS=password), "repository"
    if wanted("s3"):
        port = free_port()
        yield "s3", [object_store(work), "-p", str(port)], port, lambda port: dict(TYPE="s3", PROVIDER="Other", ENDPOINT=f"http://127.0.0.1:{port}", ACCESS_KEY_ID="key", SECRET_ACCESS_KEY="secret", FORCE_PATH_STYLE="true"), "bucket/repository"


class Database:
    """A database that is changed and queried by the command's own engine."""

    def __init__(self, rekey, work):
        import sqlcipher3
        self.path = work / "v.db"
        self.connection = sqlcipher3.connect(self.path)
        self.connection.execute("PRAGMA key = 'secret'")
        self.connection.execute("PRAGMA journal_mode = wal")
        self.connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB)")
        for _ in range(800):
            self.connection.execute("INSERT INTO t (x) VALUES (randomblob(3000))")
        self.connection.commit()

    def change(self):
        for _ in range(20):
            self.connection.execute("UPDATE t SET x = randomblob(3000) WHERE id = ?", (random.randrange(1, 801),))
        self.connection.commit()

    @staticmethod
    def content(connection):
        return connection.execute("SELECT count(*), group_concat(hex(substr(x, 1, 8))) FROM t").fetchone()


def main():
    import sqlcipher3
    only = sys.argv[3:]
    rekey, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 60
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        secret = work / "secret"
        secret.write_text("secret")
        secret.chmod(0o600)
        for kind, command, port, configuration, path in remotes(work, only):
            place = work / f"{kind}-work"
            place.mkdir()
            database = Database(rekey, place)
            environment = dict(os.environ, TMPDIR=str(place), RCLONE_RETRIES="1", RCLONE_LOW_LEVEL_RETRIES="2", RCLONE_CONTIMEOUT="5s", RCLONE_TIMEOUT="10s")
            if kind == "s3":
                environment["PATH"] = newer_client(work) + ":" + environment["PATH"]
            proxy = Proxy(port)
            environment.update({f"RCLONE_CONFIG_HERE_{name}": str(value) for name, value in configuration(proxy.port).items()})
            log = open(work / f"{kind}.log", "w")
            server = subprocess.Popen(command, stdout=log, stderr=log)
            try:
                for _ in range(100):
                    with contextlib.suppress(OSError):
                        socket.create_connection(("127.0.0.1", port)).close()
                        break
                    time.sleep(0.1)
                def run(*arguments):
                    if server.poll() is not None:
                        sys.exit(f"remotes: {kind}: the server ended by itself: {(work / f'{kind}.log').read_text()[-2000:]}")
                    return subprocess.run([rekey, *arguments], env=environment, capture_output=True, text=True, timeout=120)
                location, states, refused, end = f"rclone:here:{path}", {}, 0, time.monotonic() + seconds
                while time.monotonic() < end:
                    database.change()
                    done = run("backup", str(database.path), location, "--passphrase-file", str(secret), "--quiet")
                    if done.returncode == 0:
                        states[int(done.stdout.split()[1])] = Database.content(database.connection)
                    else:
                        refused += 1
                        last = done.stderr
                # What is stored is judged without cuts, and through them as often as it takes.
                proxy.cuts = False
                check = run("backups", "check", location)
                for number, expected in sorted(states.items()):
                    restored = place / f"{number}.db"
                    done = run("restore", location, str(restored), "--generation", str(number), "--passphrase-file", str(secret), "--quiet")
                    connection = sqlcipher3.connect(restored) if done.returncode == 0 else None
                    if connection:
                        connection.execute("PRAGMA key = 'secret'")
                    if not connection or Database.content(connection) != expected:
                        failures += 1
                        print(f"remotes: {kind}: generation {number} does not restore: {done.stderr}")
                if check.returncode != 0:
                    failures += 1
                    print(f"remotes: {kind}: {check.stdout}{check.stderr}")
                listed = run("backups", location).stdout.count("\n")
                left = [each.name for each in place.iterdir() if ".new-" in each.name]
                failures += len(left)
                print(f"remotes: {kind}: {len(states)} generations restored of {listed}, {refused} backups failed, {proxy.cut} of {proxy.connections} connections cut, {len(left)} temporary files left")
                if not states:
                    failures += 1
                    print(last)
            finally:
                server.kill()
                server.wait()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
