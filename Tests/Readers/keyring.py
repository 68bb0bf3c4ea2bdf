#!/usr/bin/env python3
"""Reads keyrings of CipherDB, as Documentation/Keyring.md has them, sharing no code with the library.

    keyring.py FILE                             lists what stands in the keyring; needs no secret
    keyring.py FILE --passphrase-file P         opens it: prints the slot that the secret opens
    keyring.py FILE --recovery-code-file P
    keyring.py FILE --key-file P
    keyring.py FILE --external-file P
    keyring.py FILE --command-output-file P     what the command of a slot printed; this reader runs no command
        --slot N                                tries that slot alone
        --export-key                            prints the key that the database is under, too
    keyring.py --check FOLDER                   checks every vector (*.txt) of a directory

Of a passphrase file and a recovery code file one line end at the end is left out; the other two count byte for byte.
A keyring that is refused gives one line, "refused: " and why, and status 1. What is no secret at all, such as a mistyped
recovery code, gives status 2. Slots with Argon2id cannot be tried here: Python's own library does not have it.
"""

import argparse
import hashlib
import hmac
import pathlib
import shlex
import struct
import sys
import unicodedata
from dataclasses import dataclass

MAGIC, VERSION = b"CipherKR", 1
KINDS = {1: "passphrase", 2: "recovery code", 3: "key file", 4: "external", 5: "command"}
NOTES = 6  # no secret opens a slot of this kind
FUNCTIONS = {0: "none", 1: "PBKDF2-HMAC-SHA-256", 2: "PBKDF2-HMAC-SHA-512", 3: "scrypt", 4: "Argon2id"}
ROLES = {1: "database key", 2: "next key"}
BUDGET = 864_000_000  # what the slots that are tried may cost together, about a second; each alone is within it


class Refusal(Exception):
    """The keyring does not open; the text is the document's name for why."""


# The file

@dataclass
class KeyRecord:
    role: int
    made: int
    salt: bytes
    wrapped: bytes


@dataclass
class OlderKey:
    given_up: int
    made: int
    salt: bytes
    wrapped: bytes


@dataclass
class Slot:
    kind: int
    number: int
    made: int
    changed: int
    label: bytes
    rest: bytes  # all that follows the label; only for the kinds of KINDS is it known what that is

    LOCK = struct.Struct(">B3I16s40s")

    @property
    def lock(self):
        """Function, its three parameters, salt and wrapped master key."""
        return self.LOCK.unpack(self.rest[:self.LOCK.size])

    @property
    def command(self):
        """The program and its arguments."""
        cursor = Cursor(self.rest[self.LOCK.size:])
        arguments = [cursor.text(255) for _ in cursor.counted(1, 32)]
        require(cursor.rest() == b"")
        require(all(0x20 <= byte <= 0x7e for argument in arguments for byte in argument))
        require(arguments[0].startswith(b"/") and sum(map(len, arguments)) <= 1024)
        return arguments

    @property
    def notes(self):
        """Repositories of backups with their newest generations."""
        cursor = Cursor(self.rest)
        notes = [(cursor.bytes(16), cursor.number(8)) for _ in cursor.counted(1, 32)]
        require(cursor.rest() == b"" and len({repository for repository, _ in notes}) == len(notes))
        return notes


@dataclass
class Keyring:
    identifier: bytes
    generation: int
    made: int
    written: int
    writer: bytes
    records: list
    older: list
    slots: list

    def body(self):
        """All that stands before the digest. Checks nothing, so that the vectors can be wrong on purpose."""
        out = MAGIC + struct.pack(">H16s3Q", VERSION, self.identifier, self.generation, self.made, self.written)
        out += bytes([len(self.writer)]) + self.writer + bytes([len(self.records)])
        for record in self.records:
            out += struct.pack(">BQ16s40s", record.role, record.made, record.salt, record.wrapped)
        out += bytes([len(self.older)])
        for key in self.older:
            out += struct.pack(">QQ16s40s", key.given_up, key.made, key.salt, key.wrapped)
        out += bytes([len(self.slots)])
        for slot in self.slots:
            content = struct.pack(">BHQQB", slot.kind, slot.number, slot.made, slot.changed, len(slot.label))
            content += slot.label + slot.rest
            out += struct.pack(">H", len(content)) + content
        return out


class Cursor:
    """Takes a run of bytes apart, from the front. What is not there, or is out of its bounds, is damage."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, count):
        taken = self.data[self.at:self.at + count]
        require(len(taken) == count)
        self.at += count
        return taken

    def number(self, count):
        return int.from_bytes(self.bytes(count), "big")

    def counted(self, least, most):
        count = self.number(1)
        require(least <= count <= most)
        return range(count)

    def time(self):
        time = self.number(8)
        require(time <= 1 << 40)
        return time

    def text(self, longest):
        text = self.bytes(len(self.counted(0, longest)))
        try:
            decoded = text.decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal("damaged") from None
        require(not any(unicodedata.category(character) == "Cc" for character in decoded))
        return text

    def rest(self):
        return self.bytes(len(self.data) - self.at)


def require(condition):
    if not condition:
        raise Refusal("damaged")


def parse(file):
    """The keyring that the bytes of a file hold. It is not verified: that takes a secret."""
    if len(file) > 65_536 or file[:8] != MAGIC:
        raise Refusal("notAKeyring")
    if len(file) >= 10 and int.from_bytes(file[8:10], "big") != VERSION:
        raise Refusal("unknownVersion")
    body, digest = file[:-96], file[-96:-64]
    require(hashlib.sha256(body).digest() == digest)
    cursor = Cursor(body)
    cursor.bytes(10)
    keyring = Keyring(
        identifier=cursor.bytes(16), generation=cursor.number(8), made=cursor.time(), written=cursor.time(),
        writer=cursor.text(32),
        records=[KeyRecord(cursor.number(1), cursor.time(), cursor.bytes(16), cursor.bytes(40))
                 for _ in cursor.counted(1, 2)],
        older=[OlderKey(cursor.time(), cursor.time(), cursor.bytes(16), cursor.bytes(40)) for _ in cursor.counted(0, 255)],
        slots=[parse_slot(cursor.bytes(cursor.number(2))) for _ in cursor.counted(1, 32)])
    require(cursor.rest() == b"")
    require([record.role for record in keyring.records] in ([1], [1, 2]))
    require(len({slot.number for slot in keyring.slots}) == len(keyring.slots))
    require([slot.kind for slot in keyring.slots].count(NOTES) <= 1)
    return keyring


def parse_slot(content):
    cursor = Cursor(content)
    slot = Slot(cursor.number(1), cursor.number(2), cursor.time(), cursor.time(), cursor.text(128), cursor.rest())
    require(slot.kind != 0 and slot.number != 0)
    if slot.kind == NOTES:
        slot.notes
    if slot.kind in KINDS:
        require(len(slot.rest) >= Slot.LOCK.size and (slot.kind == 5 or len(slot.rest) == Slot.LOCK.size))
        if slot.kind == 5:
            slot.command
        function = slot.lock[0]
        # A passphrase is too weak to go without, and the other secrets need none.
        require(function != 0 if slot.kind == 1 else function not in (1, 2, 3, 4))
    return slot


# The keys

def cost(function, a, b, c):
    """What it costs to try a slot with these parameters; None if it cannot be tried."""
    if function == 0 and a == b == c == 0:
        return 0
    if function == 1 and 0 < a <= 4_500_000 and b == c == 0:
        return 192 * a
    if function == 2 and 0 < a <= 2_304_000 and b == c == 0:
        return 375 * a
    # N is less than 2^(16 r) in RFC 7914. Below 20 for itself, so that no huge number is ever computed.
    if function == 3 and 0 < a < min(16 * b, 20) and 0 < b <= 64 and 0 < c <= 64:
        if 128 * b << a <= 1 << 26 and b * c << a <= 2_700_000:
            return 320 * (b * c << a)
    return None


def derived(secret, function, a, b, c, salt):
    if function == 0:
        return secret
    if function == 3:
        return hashlib.scrypt(secret, salt=salt, n=1 << a, r=b, p=c, maxmem=1 << 27, dklen=32)
    return hashlib.pbkdf2_hmac("sha256" if function == 1 else "sha512", secret, salt, a, 32)


def slot_key(identifier, slot, secret):
    function, a, b, c, salt, _ = slot.lock
    info = b"CipherDB keyring 1 slot" + identifier + struct.pack(">BH", slot.kind, slot.number)
    return hkdf(derived(secret, function, a, b, c, salt), salt, info, 32)


def code(master, identifier, before):
    key = hkdf(master, identifier, b"CipherDB keyring 1 authentication", 64)
    return hmac.digest(key, before, "sha512")


def wrapping_key(master, identifier):
    return hkdf(master, identifier, b"CipherDB keyring 1 database key", 32)


def open_keyring(file, kind, secret, number=None):
    """The number of the slot that opened, and the keys by their role."""
    keyring = parse(file)
    slots = [slot for slot in keyring.slots if number in (None, slot.number)]
    if not slots:
        raise Refusal("noSuchSlot")
    spent, refusal = 0, "wrongSecret"
    for slot in slots:
        if slot.kind != kind:
            continue
        price = cost(*slot.lock[:4])
        if price is None:
            refusal = "unusableSlot"
            continue
        spent += price
        if spent > BUDGET:
            raise Refusal("tooManySlots")
        master = unwrap(slot_key(keyring.identifier, slot, secret), slot.lock[5])
        if master is not None:
            break
    else:
        raise Refusal(refusal)
    if not hmac.compare_digest(code(master, keyring.identifier, file[:-64]), file[-64:]):
        raise Refusal("altered")
    wrapping = wrapping_key(master, keyring.identifier)
    keys = {record.role: unwrap(wrapping, record.wrapped) for record in keyring.records}
    if None in keys.values():
        raise Refusal("altered")
    return slot.number, keys


def lock_slot(identifier, slot, secret, function, parameters, salt, master):
    """Wraps the master key in the slot, for the secret."""
    behind = slot.rest[Slot.LOCK.size:]
    slot.rest = Slot.LOCK.pack(function, *parameters, salt, bytes(40))
    wrapped = wrap(slot_key(identifier, slot, secret), master)
    slot.rest = Slot.LOCK.pack(function, *parameters, salt, wrapped) + behind


def sealed(body, master, identifier):
    """A whole file: what stands before the digest, the digest, and the code."""
    before = body + hashlib.sha256(body).digest()
    return before + code(master, identifier, before)


def hkdf(secret, salt, info, length):
    """RFC 5869 with SHA-512, of which one block is all that is ever asked for."""
    key = hmac.digest(salt, secret, "sha512")
    return hmac.digest(key, info + b"\x01", "sha512")[:length]


# Recovery codes

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def check_digit(group, digits):
    """g + d1·x + d2·x^2 + d3·x^3 + d4·x^4 by Horner's rule, in the field of 32 elements."""
    value = 0
    for digit in reversed([group, *digits]):
        value = value << 1 ^ digit ^ (0b100101 if value & 16 else 0)
    return value


def recovery_secret(typed):
    """The 20 bytes that a recovery code stands for, as somebody typed it."""
    text = typed.translate(str.maketrans("", "", " \t-\r\n"))
    digits = [DIGITS.find(digit) for digit in text.upper().translate(str.maketrans("ILO", "110"))]
    if not text.isascii() or len(digits) != 40 or -1 in digits:  # upper() makes some other letters ASCII
        raise ValueError("not a recovery code: one has 40 digits")
    secret = 0
    for group in range(8):
        *four, check = digits[5 * group:5 * group + 5]
        if check != check_digit(group + 1, four):
            raise ValueError(f"not a recovery code: group {group + 1} is mistyped")
        for digit in four:
            secret = secret << 5 | digit
    return secret.to_bytes(20, "big")


def recovery_code(secret):
    """The code that 20 bytes are shown as."""
    bits, groups = int.from_bytes(secret, "big"), []
    for group in range(8):
        four = [bits >> 155 - 5 * (4 * group + digit) & 31 for digit in range(4)]
        groups.append("".join(DIGITS[digit] for digit in [*four, check_digit(group + 1, four)]))
    return "-".join(groups)


# AES-256 (FIPS 197) and its key wrap (RFC 3394). Bytes are elements of a field; EXP and LOG are the powers of 3 in it.

EXP, LOG = [1], {}
for power in range(255):
    LOG[EXP[power]] = power
    twice = EXP[power] << 1
    EXP.append(EXP[power] ^ twice ^ (0x11b if twice > 255 else 0))


def times(a, b):
    return EXP[(LOG[a] + LOG[b]) % 255] if a and b else 0


def substitute(a):
    inverse = EXP[255 - LOG[a]] if a else 0
    spread = inverse ^ inverse << 1 ^ inverse << 2 ^ inverse << 3 ^ inverse << 4
    return (spread ^ spread >> 8) & 255 ^ 0x63


SUBSTITUTE = [substitute(a) for a in range(256)]
RESTORE = [SUBSTITUTE.index(a) for a in range(256)]


def round_keys(key):
    """Fifteen keys of sixteen bytes, from the 32 of AES-256."""
    words = [key[at:at + 4] for at in range(0, 32, 4)]
    for at in range(8, 60):
        word = words[-1]
        if at % 8 == 0:
            word = [SUBSTITUTE[byte] for byte in word[1:] + word[:1]]
            word[0] ^= 1 << at // 8 - 1
        elif at % 8 == 4:
            word = [SUBSTITUTE[byte] for byte in word]
        words.append(bytes(a ^ b for a, b in zip(words[-8], word)))
    return [b"".join(words[at:at + 4]) for at in range(0, 60, 4)]


def mixed(block, factors):
    """Every column of four bytes times a matrix whose rows are the factors, each row moved on by one."""
    return [times(factors[-row % 4], block[column]) ^ times(factors[(1 - row) % 4], block[column + 1])
            ^ times(factors[(2 - row) % 4], block[column + 2]) ^ times(factors[(3 - row) % 4], block[column + 3])
            for column in range(0, 16, 4) for row in range(4)]


def added(block, key):
    return [a ^ b for a, b in zip(block, key)]


def encrypt(keys, block):
    block = added(block, keys[0])
    for turn in range(1, 15):
        block = [SUBSTITUTE[block[5 * at % 16]] for at in range(16)]  # ShiftRows: 5 is one column and one row on
        block = added(block if turn == 14 else mixed(block, (2, 3, 1, 1)), keys[turn])
    return bytes(block)


def decrypt(keys, block):
    for turn in range(14, 0, -1):
        block = added(block, keys[turn])
        block = block if turn == 14 else mixed(block, (14, 11, 13, 9))
        block = [RESTORE[block[13 * at % 16]] for at in range(16)]  # and back, as 13 times 5 is 1 modulo 16
    return bytes(added(block, keys[0]))


def wrap(key, plain):
    keys, a = round_keys(key), b"\xa6" * 8
    parts = [plain[at:at + 8] for at in range(0, len(plain), 8)]
    for step in range(6 * len(parts)):
        block = encrypt(keys, a + parts[step % len(parts)])
        a, parts[step % len(parts)] = bytes(added(block[:8], (step + 1).to_bytes(8, "big"))), block[8:]
    return a + b"".join(parts)


def unwrap(key, wrapped):
    """What was wrapped, or None where it was not under this key."""
    keys, a = round_keys(key), wrapped[:8]
    parts = [wrapped[at:at + 8] for at in range(8, len(wrapped), 8)]
    for step in reversed(range(6 * len(parts))):
        block = decrypt(keys, bytes(added(a, (step + 1).to_bytes(8, "big"))) + parts[step % len(parts)])
        a, parts[step % len(parts)] = block[:8], block[8:]
    return b"".join(parts) if hmac.compare_digest(a, b"\xa6" * 8) else None


# The command

def list_keyring(keyring):
    print(f"identifier: {keyring.identifier.hex()}")
    print(f"generation: {keyring.generation}")
    print(f"made: {keyring.made}, written: {keyring.written}, by CipherDB {keyring.writer.decode()!r}")
    for record in keyring.records:
        print(f"{ROLES[record.role]}: made {record.made}, salt {record.salt.hex()}")
    for key in keyring.older:
        print(f"retired key: made {key.made}, retired {key.given_up}, salt {key.salt.hex()}")
    for slot in keyring.slots:
        line = f"slot {slot.number}: {KINDS.get(slot.kind, f'kind {slot.kind}')} {slot.label.decode()!r}"
        line += f", made {slot.made}, changed {slot.changed}"
        if slot.kind in KINDS:
            function, *parameters = slot.lock[:4]
            line += f", {FUNCTIONS.get(function, f'function {function}')} {parameters}"
            if slot.kind == 5:
                line += ", runs " + shlex.join(argument.decode() for argument in slot.command)
            line += ", cannot be tried here" if cost(function, *parameters) is None else ""
        if slot.kind == NOTES:
            line += "".join(f", repository {repository.hex()} generation {number}" for repository, number in slot.notes)
        print(line)


def secret_of(kind, content):
    """The secret in the bytes that were given for it; ValueError if it cannot be one."""
    if kind == 2:
        return recovery_secret(content.decode("utf-8"))
    if len(content) < (1 if kind == 1 else 32):
        raise ValueError("too short to be a secret of its kind")
    return content


def without_line_end(content):
    return content[:-2] if content.endswith(b"\r\n") else content[:-1] if content.endswith(b"\n") else content


def outcome(headers, file):
    """What comes of a vector, in the words of its own headers."""
    [kind] = [kind for kind, name in KINDS.items() if name in headers]
    given = headers[KINDS[kind]]
    secret = secret_of(kind, given.encode() if kind == 2 else bytes.fromhex(given))
    try:
        number, keys = open_keyring(file, kind, secret, int(headers["slot"]) if "slot" in headers else None)
    except Refusal as refusal:
        return {"expect": str(refusal)}
    return {"expect": "opens", "opened slot": str(number), **{ROLES[role]: key.hex() for role, key in keys.items()}}


def check(directory):
    """Whether all vectors of a directory come out as they say."""
    paths, wrong = sorted(directory.glob("*.txt")), 0
    for path in paths:
        head, _, hexadecimal = path.read_text(encoding="ascii").partition("\n\n")
        headers = dict(line.split(": ", 1) for line in head.splitlines())
        expected = {name: headers[name] for name in ("expect", "opened slot", *ROLES.values()) if name in headers}
        found = outcome(headers, bytes.fromhex(hexadecimal))
        if found != expected:
            wrong += 1
            print(f"{path.name}: {found}, not {expected}")
    print(f"{len(paths)} vectors, {wrong} wrong")
    return bool(paths) and not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("file", nargs="?", type=pathlib.Path)
    what.add_argument("--check", metavar="FOLDER", type=pathlib.Path)
    ways = parser.add_mutually_exclusive_group()
    options = ["--passphrase-file", "--recovery-code-file", "--key-file", "--external-file", "--command-output-file"]
    for kind, option in enumerate(options, 1):
        ways.add_argument(option, dest="way", type=lambda path, kind=kind: (kind, pathlib.Path(path)), metavar="P")
    parser.add_argument("--slot", type=int, metavar="N")
    parser.add_argument("--export-key", action="store_true")
    options = parser.parse_args()
    if (options.slot is not None or options.export_key) and not options.way or options.check and options.way:
        parser.error("a slot and the key are for opening a keyring, which takes a file and a secret")
    if options.check:
        return 0 if check(options.check) else 1
    try:
        file = options.file.read_bytes()
        if not options.way:
            list_keyring(parse(file))
            return 0
        kind, path = options.way
        content = path.read_bytes()
        secret = secret_of(kind, without_line_end(content) if kind in (1, 2) else content)
        number, keys = open_keyring(file, kind, secret, options.slot)
    except Refusal as refusal:
        print(f"refused: {refusal}")
        return 1
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"opens: slot {number}")
    if options.export_key:
        print(keys[1].hex())
    return 0


if __name__ == "__main__":
    sys.exit(main())
