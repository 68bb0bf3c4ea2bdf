#!/usr/bin/env python3
"""Reads repositories of backups, as Documentation/Backup.md has them, sharing no code with the library.

    backup.py REPOSITORY                        lists the generations
    backup.py REPOSITORY FILE                   restores the newest generation to a new file
        --generation N                          another one
        --page-key-file P                       the 32 bytes with which SQLCipher encrypts pages: proves the manifest
        --keyring-file P                        writes the keyring that has the key of the generation to a new file
    backup.py --check FOLDER                    checks every vector (*.txt) of a directory

What is refused gives one line, "refused: " and why, and status 1.
"""

import argparse
import hashlib
import hmac
import pathlib
import re
import sys
import tempfile

BLOCK, FAN_OUT, REFERENCE = 4096, 128, 56
ZEROS = bytes(REFERENCE)


class Refusal(Exception):
    """The repository does not give what was asked for; `name` is what vectors call that."""

    def __init__(self, text, name="damagedObject"):
        super().__init__(text)
        self.name = name


class Reader:
    """Takes numbers and bytes one after the other."""

    def __init__(self, data):
        self.data, self.position = data, 0

    def bytes(self, count):
        taken = self.data[self.position:self.position + count]
        if len(taken) < count:
            raise Refusal("an object ends too early")
        self.position += count
        return taken

    def number(self, count):
        return int.from_bytes(self.bytes(count), "big")


def checked(name, data, magic, trailer=0):
    """A reader behind magic and version, where the digest is right and all but the trailer is read by the caller."""
    content, digest = data[:-32], data[-32:]
    if not data.startswith(magic) or hashlib.sha256(content).digest() != digest:
        raise Refusal(f"{name} is damaged")
    reader = Reader(content[:len(content) - trailer])
    reader.bytes(8)
    if reader.number(2) != 1:
        raise Refusal(f"{name} has an unknown version", "unknownVersion")
    return reader


class Manifest:
    def __init__(self, path, repository):
        self.name, data = path.name, path.read_bytes()
        reader = checked(self.name, data, b"CipherBG", trailer=32)
        if hashlib.sha256(data).hexdigest()[:16] != self.name.split("-")[1]:
            raise Refusal(f"{self.name} has the name of another manifest")
        if reader.bytes(16) != repository:
            raise Refusal(f"{self.name} is of another repository")
        self.number, self.time = reader.number(8), reader.number(8)
        if self.number != int(self.name.split("-")[0]):
            raise Refusal(f"{self.name} has the number of another generation")
        self.previous, self.key_identifier = reader.bytes(32), reader.bytes(16)
        self.size, self.stored, self.root = reader.number(8), reader.number(8), reader.bytes(REFERENCE)
        self.segments = {}
        for _ in range(reader.number(4)):
            identifier = reader.bytes(16)
            self.segments[identifier] = (reader.number(8), reader.number(8), reader.bytes(32))
        reader.bytes(reader.number(1))
        if reader.position != len(reader.data):
            raise Refusal(f"{self.name} has more than a manifest")
        self.covered, self.mac = data[:-64], data[-64:-32]

    def prove(self, page_key, repository):
        if self.key_identifier == bytes(16):
            raise Refusal(f"{self.name} was written without a key", "unauthenticated")
        if hkdf(page_key, repository, b"CipherDB backup 1 identifier", 16) != self.key_identifier:
            raise Refusal(f"{self.name} is not authenticated with this key", "otherKey")
        key = hkdf(page_key, repository, b"CipherDB backup 1 authentication", 32)
        if not hmac.compare_digest(hmac.digest(key, self.covered, "sha256"), self.mac):
            raise Refusal(f"{self.name} was altered", "altered")


def hkdf(key, salt, info, count):
    """RFC 5869 with SHA-512, for at most 64 bytes."""
    return hmac.digest(hmac.digest(salt, key, "sha512"), info + b"\1", "sha512")[:count]


class Repository:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        marker = self.path / "repository"
        if not marker.is_file():
            raise Refusal("not a repository", "notARepository")
        self.identifier = checked("repository", marker.read_bytes(), b"CipherBR").bytes(16)
        self.opened = {}

    def manifests(self):
        names = sorted((self.path / "generations").iterdir(), key=lambda path: path.name)
        names = [path for path in names if re.fullmatch(r"[0-9]{10,}-[0-9a-f]{16}", path.name)]
        return sorted((Manifest(path, self.identifier) for path in names), key=lambda manifest: manifest.number)

    def keyring(self, manifest):
        """The newest keyring that has the key of a generation; none where none is stored."""
        found = []
        for path in (self.path / "keyrings").glob("*-*"):
            if not re.fullmatch(r"[0-9]{10,}-[0-9a-f]{16}", path.name):
                continue
            data = path.read_bytes()
            reader = checked(path.name, data, b"CipherBK")
            if hashlib.sha256(data).hexdigest()[:16] != path.name.split("-")[1] or reader.bytes(16) != self.identifier:
                raise Refusal(f"{path.name} has the name of another keyring, or is of another repository")
            if manifest.key_identifier in [reader.bytes(16) for _ in range(reader.number(2))]:
                found.append((int(path.name.split("-")[0]), path.name, reader.data[reader.position:]))
        return max(found)[2] if found else None

    def bytes(self, manifest, reference, count):
        """What a reference refers to."""
        segment, offset, digest = reference[:16], int.from_bytes(reference[16:24], "big"), reference[24:]
        if segment not in manifest.segments or offset + count > manifest.segments[segment][0]:
            raise Refusal(f"a reference leads out of the segments of {manifest.name}")
        if segment not in self.opened:
            place = self.path / "segments" / segment.hex()
            if not place.is_file():
                raise Refusal(f"segment {segment.hex()} is missing", "missingObject")
            self.opened[segment] = place.read_bytes()
        data = self.opened[segment][offset:offset + count]
        if hashlib.sha256(data).digest() != digest:
            raise Refusal(f"segment {segment.hex()} is damaged")
        return data

    def blocks(self, manifest):
        """The references to all blocks."""
        counts = [(manifest.size + BLOCK - 1) // BLOCK]
        while len(counts) == 1 or counts[-1] > 1:
            counts.append((counts[-1] + FAN_OUT - 1) // FAN_OUT)
        level = [manifest.root]
        for below in reversed(counts[:-1]):
            nodes = []
            for index, reference in enumerate(level):
                children = min(FAN_OUT, below - index * FAN_OUT)
                node = self.bytes(manifest, reference, children * REFERENCE)
                nodes += [node[start:start + REFERENCE] for start in range(0, len(node), REFERENCE)]
            level = nodes
        return level

    def restore(self, manifest, place):
        with open(place, "xb") as file:
            for index, reference in enumerate(self.blocks(manifest)):
                count = min(BLOCK, manifest.size - index * BLOCK)
                file.write(bytes(count) if reference == ZEROS else self.bytes(manifest, reference, count))


def outcome(headers, objects):
    """What a vector gives."""
    with tempfile.TemporaryDirectory() as work:
        for name, data in objects.items():
            place = pathlib.Path(work, "repository", name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        try:
            repository = Repository(pathlib.Path(work, "repository"))
            manifest = next(each for each in repository.manifests() if each.number == int(headers["generation"]))
            manifest.prove(bytes.fromhex(headers["page key"]), repository.identifier)
            repository.restore(manifest, pathlib.Path(work, "database"))
            keyring = repository.keyring(manifest)
        except Refusal as refusal:
            return {"expect": refusal.name}
        data = pathlib.Path(work, "database").read_bytes()
        stored = {"keyring": hashlib.sha256(keyring).hexdigest()} if keyring else {}
        return stored | {"expect": "restores", "size": str(len(data)), "SHA-256": hashlib.sha256(data).hexdigest(),
                "root": manifest.root.hex(), "key identifier": manifest.key_identifier.hex(), "MAC": manifest.mac.hex()}


def check(directory):
    """Whether all vectors of a directory come out as they say."""
    paths, wrong = sorted(pathlib.Path(directory).glob("*.txt")), 0
    for path in paths:
        head, *parts = path.read_text(encoding="ascii").split("\n\n")
        headers = dict(line.split(": ", 1) for line in head.splitlines())
        objects = {part.split("\n", 1)[0]: bytes.fromhex(part.split("\n", 1)[1]) for part in parts}
        found = outcome(headers, objects)
        if any(headers.get(name, value) != value for name, value in found.items()):
            wrong += 1
            print(f"{path.name}: {found}")
    print(f"{len(paths)} vectors, {wrong} wrong")
    return bool(paths) and not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", nargs="?")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--generation", type=int)
    parser.add_argument("--page-key-file")
    parser.add_argument("--keyring-file")
    parser.add_argument("--check", metavar="FOLDER")
    options = parser.parse_args()
    if bool(options.check) == bool(options.repository):
        parser.error("give a repository, or --check")
    if options.check:
        sys.exit(0 if check(options.check) else 1)
    repository = Repository(options.repository)
    manifests = repository.manifests()
    if not options.file:
        for manifest in manifests:
            print(manifest.number, manifest.time, manifest.size, manifest.stored)
        return
    chosen = [each for each in manifests if options.generation in (None, each.number)]
    if not chosen:
        raise Refusal("no such generation", "noGeneration")
    if options.page_key_file:
        chosen[-1].prove(pathlib.Path(options.page_key_file).read_bytes(), repository.identifier)
    repository.restore(chosen[-1], options.file)
    if options.keyring_file:
        keyring = repository.keyring(chosen[-1])
        if keyring is None:
            raise Refusal("no keyring that is stored has the key of the generation", "noKeyring")
        with open(options.keyring_file, "xb") as file:
            file.write(keyring)


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        print(f"refused: {refusal}")
        sys.exit(1)
