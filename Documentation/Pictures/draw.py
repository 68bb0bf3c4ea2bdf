#!/usr/bin/env python3
"""Draws the pictures of Documentation/Pictures: diagrams, and real runs of rekey, whose path is the argument.

usage: Documentation/Pictures/draw.py .build/debug/rekey
"""

import html
import os
import random
import shutil
import subprocess
import sys
import tempfile

PICTURES = os.path.dirname(os.path.abspath(__file__))
INK, SOFT, FILL, ACCENT = "#1f2933", "#7b8794", "#f5f7fa", "#d9e8f6"


class Drawing:
    """Boxes and arrows on a white sheet."""

    def __init__(self, width, height, title):
        self.size = (width, height)
        self.parts = []
        self.title = title

    def text(self, x, y, text, size=13, color=INK, anchor="middle", weight="normal"):
        self.parts.append(
            '<text x="%g" y="%g" font-size="%d" fill="%s" text-anchor="%s" font-weight="%s">%s</text>'
            % (x, y, size, color, anchor, weight, html.escape(text))
        )

    def box(self, x, y, width, height, title, *lines, fill=FILL):
        self.parts.append(
            '<rect x="%g" y="%g" width="%g" height="%g" rx="6" fill="%s" stroke="%s"/>' % (x, y, width, height, fill, SOFT)
        )
        top = y + height / 2 + 5 - 8 * len(lines)
        self.text(x + width / 2, top, title, weight="bold")
        for number, line in enumerate(lines, 1):
            self.text(x + width / 2, top + 16 * number, line, size=11, color=SOFT)

    def arrow(self, x1, y1, x2, y2, label=""):
        self.parts.append(
            '<line x1="%g" y1="%g" x2="%g" y2="%g" stroke="%s" marker-end="url(#head)"/>' % (x1, y1, x2, y2, INK)
        )
        if label:
            self.text((x1 + x2) / 2 + 6, (y1 + y2) / 2 - 4, label, size=11, color=INK, anchor="start")

    def write(self, name):
        head = (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" role="img">'
            "<title>%s</title>"
            '<defs><marker id="head" markerWidth="10" markerHeight="8" refX="9" refY="4" orient="auto">'
            '<path d="M0,0 L10,4 L0,8 z" fill="%s"/></marker></defs>'
            '<rect width="100%%" height="100%%" fill="#ffffff"/>' % (*self.size, html.escape(self.title), INK)
        )
        write(name, head + "\n" + "\n".join(self.parts) + "\n</svg>\n")


def write(name, text):
    os.makedirs(PICTURES, exist_ok=True)
    with open(os.path.join(PICTURES, name), "w", encoding="utf-8") as file:
        file.write(text)


def exchange():
    """The files in a change of key, by the steps of Rekeying.md."""
    drawing = Drawing(760, 250, "The exchange of files in a change of key")
    columns = [
        ("steps 1 to 5", "locked, checked", [("vault.db", "old key", FILL)]),
        ("steps 6 to 10", "new file is written", [("vault.db", "old key", FILL), ("vault.db.rekey-…", "new key, verified", ACCENT)]),
        ("step 11", "hard link", [("vault.db", "old key", FILL), ("vault.db.rekey-…", "old key, same file", FILL), ("vault.db.rekey-…", "new key", ACCENT)]),
        ("step 12", "rename", [("vault.db", "new key", ACCENT), ("vault.db.rekey-…", "old key", FILL)]),
        ("steps 13 and 14", "old file is erased", [("vault.db", "new key", ACCENT)]),
    ]
    for number, (title, text, files) in enumerate(columns):
        x = 12 + 150 * number
        drawing.text(x + 65, 24, title, weight="bold")
        drawing.text(x + 65, 42, text, size=11, color=SOFT)
        for row, (name, key, fill) in enumerate(files):
            drawing.box(x, 58 + 62 * row, 130, 50, name, key, fill=fill)
        if number:
            drawing.arrow(x - 18, 83, x - 3, 83)
    drawing.write("exchange.svg")


def keyring():
    """The two levels of a keyring."""
    drawing = Drawing(720, 330, "The two levels of a keyring")
    secrets = [("passphrase", "scrypt"), ("recovery code", "160 random bits"), ("key file", "32 random bytes"), ("external secret", "TPM, key service")]
    for number, (name, text) in enumerate(secrets):
        x = 20 + 175 * number
        drawing.box(x, 16, 155, 46, name, text)
        drawing.arrow(x + 77, 62, x + 77, 92)
        drawing.box(x, 94, 155, 46, "slot %d" % (number + 1), "wraps the master key", fill=ACCENT)
        drawing.arrow(x + 77, 140, 360 + (number - 1.5) * 40, 178)
    drawing.box(210, 180, 300, 46, "master key", "wraps database keys, authenticates the file")
    drawing.arrow(320, 226, 250, 262)
    drawing.arrow(400, 226, 470, 262)
    drawing.box(130, 264, 240, 50, "database key", "opens vault.db, a raw key of SQLCipher", fill=ACCENT)
    drawing.box(390, 264, 240, 50, "retired keys", "open older copies of the database")
    drawing.write("keyring.svg")


def run(rekey, arguments, directory):
    """A real run: the command line, and what it printed."""
    done = subprocess.run([rekey] + arguments, cwd=directory, capture_output=True, text=True, check=False)
    return ["$ rekey " + " ".join(arguments)] + (done.stdout + done.stderr).rstrip("\n").split("\n")


def session(rekey, directory):
    """A terminal session, and the map of a damaged file."""
    key = ["--key-file", "vault.key"]
    commands = [
        ["inspect", "notes.db"],
        ["encrypt", "notes.db"] + key,
        ["verify", "notes.db"] + key,
        ["keyring", "init", "notes.db"] + key + ["--new-passphrase-file", "ada.txt", "--label", "Ada"],
        ["keyring", "list", "notes.db"],
    ]
    lines = []
    for command in commands:
        lines += run(rekey, command, directory) + [""]
    width, height = 780, 30 + 17 * len(lines)
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Menlo, Consolas, monospace" font-size="13" role="img">'
        "<title>A session with rekey</title>" % (width, height),
        '<rect width="100%" height="100%" rx="8" fill="#1f2933"/>',
    ]
    for number, line in enumerate(lines):
        color = "#9fd3ff" if line.startswith("$") else "#e4e7eb"
        out.append('<text x="16" y="%d" fill="%s" xml:space="preserve">%s</text>' % (28 + 17 * number, color, html.escape(line)))
    write("session.svg", "\n".join(out) + "\n</svg>\n")


def page_map(rekey, directory):
    key = ["--key-file", "vault.key"]
    run(rekey, ["encrypt", "map.db"] + key, directory)
    path = os.path.join(directory, "map.db")
    with open(path, "r+b") as file:
        for page in (40, 41, 42, 120):
            file.seek(4096 * (page - 1) + 100)
            file.write(b"damage")
    run(rekey, ["verify", "map.db", "--map-svg", "map.svg"] + key, directory)
    shutil.copyfile(os.path.join(directory, "map.svg"), os.path.join(PICTURES, "pagemap.svg"))


def fixtures(directory):
    import sqlite3

    random.seed(1)
    for name, rows in (("notes.db", 200), ("map.db", 20000)):
        database = sqlite3.connect(os.path.join(directory, name))
        database.executescript("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX notes_by_text ON notes (text);")
        database.executemany("INSERT INTO notes (text) VALUES (?)", [("%032x" % random.getrandbits(128),) for _ in range(rows)])
        database.commit()
        database.close()
    for name, content in (("vault.key", bytes(random.getrandbits(8) for _ in range(32))), ("ada.txt", b"a sample passphrase\n")):
        path = os.path.join(directory, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o600)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rekey = os.path.abspath(sys.argv[1])
    exchange()
    keyring()
    with tempfile.TemporaryDirectory() as directory:
        fixtures(directory)
        session(rekey, directory)
        page_map(rekey, directory)


if __name__ == "__main__":
    main()
