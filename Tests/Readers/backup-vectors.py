#!/usr/bin/env python3
"""Writes the vectors of repositories of backups, each a file NAME.txt, to the directory that is given or to the tests' own.

    backup-vectors.py [FOLDER]

A vector has lines `name: value`, then objects, each with its path and its bytes in hexadecimal digits. What is random in it comes from its
name, so that the same vectors come out each time. The databases are random bytes: no page of them is encrypted.
"""

import hashlib
import hmac
import pathlib
import random
import sys

import backup as format

NOON = 1_767_268_800


def wrapped(name):
    """The keyring of a vector of keyrings."""
    vectors = pathlib.Path(__file__).resolve().parent.parent / "CipherKeysTests/Vectors/Keyring"
    return bytes.fromhex((vectors / f"{name}.txt").read_text().split("\n\n", 1)[1])


def digested(content):
    return content + hashlib.sha256(content).digest()


class Vector:
    """A repository of random databases; `objects` is what it stores, by path."""

    def __init__(self, name, what):
        self.name, self.what = name, what
        self.random = random.Random(name)
        self.repository, self.page_key = self.random.randbytes(16), self.random.randbytes(32)
        self.objects = {"repository": digested(b"CipherBR" + b"\0\1" + self.repository + NOON.to_bytes(8, "big"))}
        self.number, self.previous, self.states, self.segments, self.blocks = 0, bytes(32), [], [], {}
        self.notes = {}

    def generation(self, state, authenticated=True, change=lambda manifest: manifest):
        """One more generation, which stores the blocks that have changed in a segment."""
        self.number += 1
        identifier = self.random.randbytes(16)
        segment = bytearray(b"CipherBS" + b"\0\1" + self.repository + identifier)

        def store(data):
            reference = identifier + len(segment).to_bytes(8, "big") + hashlib.sha256(data).digest()
            segment.extend(data)
            return reference

        level = []
        for index in range(0, len(state), format.BLOCK):
            block = state[index:index + format.BLOCK]
            if block == bytes(len(block)):
                level.append(format.ZEROS)
                continue
            if (index, block) not in self.blocks:
                self.blocks[index, block] = store(block)
            level.append(self.blocks[index, block])
        nodes = len(segment)
        while True:
            level = [store(b"".join(level[at:at + format.FAN_OUT])) for at in range(0, len(level), format.FAN_OUT)]
            if len(level) == 1:
                break
        segment = bytes(segment)
        self.objects["segments/" + identifier.hex()] = segment
        self.segments.append(identifier + len(segment).to_bytes(8, "big") + nodes.to_bytes(8, "big")
                             + hashlib.sha256(segment).digest())
        key = format.hkdf(self.page_key, self.repository, b"CipherDB backup 1 identifier", 16)
        manifest = (b"CipherBG" + b"\0\1" + self.repository + self.number.to_bytes(8, "big")
                    + (NOON + 60 * self.number).to_bytes(8, "big") + self.previous
                    + (key if authenticated else bytes(16)) + len(state).to_bytes(8, "big")
                    + len(segment).to_bytes(8, "big") + level[0] + len(self.segments).to_bytes(4, "big")
                    + b"".join(self.segments) + b"\x031.0")
        mac = self.mac(manifest) if authenticated else bytes(32)
        self.notes = {"segment header": segment[:42].hex(), "root": level[0].hex()}
        if authenticated:
            self.notes |= {"key identifier": key.hex(), "MAC": mac.hex()}
        self.add_manifest(change(manifest + mac))
        self.states.append(state)
        return self

    def mac(self, manifest):
        key = format.hkdf(self.page_key, self.repository, b"CipherDB backup 1 authentication", 32)
        return hmac.digest(key, manifest, "sha256")

    def add_manifest(self, content):
        file = digested(content)
        self.previous = hashlib.sha256(file).digest()
        self.objects[f"generations/{self.number:010}-{self.previous.hex()[:16]}"] = file

    def prune(self, *ranges):
        record = digested(b"CipherBP" + b"\0\1" + self.repository + len(ranges).to_bytes(4, "big")
                          + b"".join(each.to_bytes(8, "big") for pair in ranges for each in pair))
        self.objects["prunes/" + hashlib.sha256(record).hexdigest()[:32]] = record
        for first, last in ranges:
            for number in range(first, last + 1):
                self.objects = {name: data for name, data in self.objects.items()
                                if not name.startswith(f"generations/{number:010}-")}
        return self

    def keyring(self, number, file, *more):
        """A keyring with the key of the generations, and others."""
        key = format.hkdf(self.page_key, self.repository, b"CipherDB backup 1 identifier", 16)
        identifiers = sorted([key, *more])
        stored = digested(b"CipherBK" + b"\0\1" + self.repository + len(identifiers).to_bytes(2, "big")
                          + b"".join(identifiers) + file)
        self.objects[f"keyrings/{number:010}-{hashlib.sha256(stored).hexdigest()[:16]}"] = stored
        self.notes["keyring"] = hashlib.sha256(file).hexdigest()
        return self

    def restores(self, number=None):
        number = number or self.number
        state = self.states[number - 1]
        self.write("restores", number, {**self.notes, "size": len(state), "SHA-256": hashlib.sha256(state).hexdigest()})

    def refuses(self, expect, number=None):
        self.write(expect, number or self.number, {})

    def write(self, expect, number, more):
        headers = {"what": self.what, "expect": expect, "generation": number, "page key": self.page_key.hex(), **more}
        lines = [f"{name}: {value}" for name, value in headers.items()]
        for name, data in sorted(self.objects.items()):
            digits = data.hex()
            lines += ["", name, *(digits[at:at + 64] for at in range(0, len(digits), 64))]
        (FOLDER / f"{self.name}.txt").write_text("\n".join(lines) + "\n", encoding="ascii")

    def bytes(self, *counts):
        """Random bytes for a positive number, zeros for a negative one."""
        return b"".join(self.random.randbytes(each) if each > 0 else bytes(-each) for each in counts)


def replacing(old, new):
    return lambda data: data.replace(old, new)


def good():
    v = Vector("one-block", "A database of 100 bytes.")
    v.generation(v.bytes(100)).restores()
    v = Vector("zeros", "A block of zeros is stored nowhere, and the last block is shorter.")
    v.generation(v.bytes(4096, -4096, 1000)).restores()
    v = Vector("two-levels", "The tree of 130 blocks has two levels of nodes.")
    v.generation(v.bytes(100, -4096 * 128 + 100, -4096, 512)).restores()
    v = Vector("second-generation", "A block that has not changed is that of the generation before.")
    first = v.bytes(4096, 4096)
    v.generation(first).generation(first[:4096] + v.bytes(4096)).restores()
    v = Vector("first-of-two", "An earlier generation is restored.")
    first = v.bytes(4096, 500)
    v.generation(first).generation(v.bytes(300))
    v.notes = {}
    v.restores(1)
    v = Vector("pruned", "The first two of three generations were pruned.")
    v.generation(v.bytes(10)).generation(v.bytes(20)).generation(v.bytes(30)).prune((1, 2)).restores()
    v = Vector("keyring", "Of two keyrings that have the key of the generation, the newer one counts.")
    v.generation(v.bytes(100)).keyring(1, wrapped("external")).keyring(2, wrapped("notes-one"), v.bytes(16)).restores()


def refused():
    v = Vector("without-key", "A generation that was stored without the key is not proved by it.")
    v.generation(v.bytes(50), authenticated=False).refuses("unauthenticated")
    v = Vector("other-key", "A generation is under another key.")
    v.generation(v.bytes(50))
    v.page_key = bytes(32)
    v.refuses("otherKey")
    v = Vector("mac-wrong", "The MAC of the manifest is wrong, and its digest is right.")
    v.generation(v.bytes(50), change=lambda content: content[:-1] + bytes([content[-1] ^ 1])).refuses("altered")
    v = Vector("size-changed", "The size of the database was changed, and the digest made right again.")
    v.generation(v.bytes(50), change=replacing((50).to_bytes(8, "big"), (49).to_bytes(8, "big"))).refuses("altered")
    v = Vector("digest-of-manifest", "The digest of the manifest is wrong.")
    v.generation(v.bytes(50))
    name = next(name for name in v.objects if name.startswith("generations/"))
    v.objects[name] = v.objects[name][:-1] + bytes([v.objects[name][-1] ^ 1])
    v.refuses("damagedObject")
    v = Vector("name-of-manifest", "The digits in the name of the manifest are not those of its digest.")
    v.generation(v.bytes(50))
    name = next(name for name in v.objects if name.startswith("generations/"))
    v.objects[name[:-16] + "0" * 16] = v.objects.pop(name)
    v.refuses("damagedObject")
    v = Vector("number-of-manifest", "The number in the name is not that in the manifest.")
    v.generation(v.bytes(50))
    name = next(name for name in v.objects if name.startswith("generations/"))
    v.objects[name.replace("0000000001", "0000000002")] = v.objects.pop(name)
    v.refuses("damagedObject", 2)
    v = Vector("other-repository", "The manifest is of another repository.")
    v.generation(v.bytes(50))
    other = digested(b"CipherBR" + b"\0\1" + bytes(16) + NOON.to_bytes(8, "big"))
    v.objects["repository"] = other
    v.refuses("damagedObject")
    v = Vector("block-changed", "A bit of a block was changed.")
    v.generation(v.bytes(50))
    name = next(name for name in v.objects if name.startswith("segments/"))
    v.objects[name] = v.objects[name][:50] + bytes([v.objects[name][50] ^ 1]) + v.objects[name][51:]
    v.refuses("damagedObject")
    v = Vector("segment-missing", "A segment is missing.")
    v.generation(v.bytes(50))
    v.objects = {name: data for name, data in v.objects.items() if not name.startswith("segments/")}
    v.refuses("missingObject")
    v = Vector("segment-not-listed", "The root is in a segment that the manifest does not list.")
    v.generation(v.bytes(50))
    v.segments = [bytes(16) + v.segments[0][16:]]
    v.number, v.previous = 0, bytes(32)
    v.objects = {name: data for name, data in v.objects.items() if not name.startswith("generations/")}
    v.generation(v.states[0], change=lambda content: content)
    name = next(name for name in v.objects if name.startswith("generations/"))
    content = v.objects.pop(name)[:-64].replace((2).to_bytes(4, "big") + b"".join(v.segments),
                                                (1).to_bytes(4, "big") + v.segments[0])
    v.add_manifest(content + v.mac(content))
    v.refuses("damagedObject")
    v = Vector("marker-version", "The repository has version 2.")
    v.generation(v.bytes(50))
    v.objects["repository"] = digested(v.objects["repository"][:-32].replace(b"CipherBR\0\1", b"CipherBR\0\2"))
    v.refuses("unknownVersion")
    v = Vector("marker-digest", "The digest of the marker is wrong.")
    v.generation(v.bytes(50))
    v.objects["repository"] = v.objects["repository"][:-1] + bytes([v.objects["repository"][-1] ^ 1])
    v.refuses("damagedObject")


OWN = pathlib.Path(__file__).resolve().parent.parent / "RekeyingTests/Vectors/Backup"
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else OWN

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    good()
    refused()
