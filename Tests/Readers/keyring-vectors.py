#!/usr/bin/env python3
"""Writes the vectors of the keyring, each a file NAME.txt, to the directory that is given or to the tests' own.

    keyring-vectors.py [FOLDER]

What is random in a vector comes from its name, so that the same vectors come out each time, and a new one changes no other.
A file that is in the directory already and is not among them is left. The parameters are far too weak for use: they are to be fast.
"""

import copy
import hashlib
import pathlib
import random
import sys

import keyring as format

PASSPHRASE, CODE, KEY_FILE, EXTERNAL, COMMAND = 1, 2, 3, 4, 5
PBKDF2 = (1, 1000, 0, 0)
DAY = 86_400
NOON = 1_767_268_800  # a day on which all of this may have been made


class Vector:
    """A keyring, good when it starts; each vector puts slots in, and then does the one thing to it that it is to show."""

    def __init__(self, name, what, roles=(1,)):
        self.name, self.what = name, what
        self.random = random.Random(name)
        self.master = self.random.randbytes(32)
        self.keyring = format.Keyring(self.random.randbytes(16), 3, NOON, NOON + 3 * DAY, b"1.0", [], [], [])
        self.keys = {}
        for role in roles:
            self.record(role)

    def record(self, role):
        key = self.random.randbytes(32)
        self.keys[role] = key
        wrapped = format.wrap(format.wrapping_key(self.master, self.keyring.identifier), key)
        salt = self.random.randbytes(16) if role == 1 else bytes(16)
        self.keyring.records.append(format.KeyRecord(role, NOON + role, salt, wrapped))

    def slot(self, kind, secret, function=None, number=None, label=b"first", tried=True):
        """One more slot. One that no reader tries is given random bytes for the wrapped key, as nothing can be wrapped in it."""
        if function is None:
            function = PBKDF2 if kind == PASSPHRASE else (0, 0, 0, 0)
        number = len(self.keyring.slots) + 1 if number is None else number
        slot = format.Slot(kind, number, NOON + number, NOON + number + DAY, label, b"")
        salt = self.random.randbytes(16)
        if tried:
            format.lock_slot(self.keyring.identifier, slot, secret, function[0], function[1:], salt, self.master)
        else:
            slot.rest = format.Slot.LOCK.pack(*function, salt, self.random.randbytes(40))
        self.keyring.slots.append(slot)
        return self

    def command(self, *arguments, tail=None, function=(0, 0, 0, 0)):
        """One more slot, whose secret a command prints. The tail is what follows the wrapped key, where it is not of the arguments."""
        self.slot(COMMAND, EXTERNAL_BYTES, function)
        if tail is None:
            tail = bytes([len(arguments)]) + b"".join(bytes([len(each)]) + each for each in arguments)
        self.keyring.slots[-1].rest += tail
        return self

    def unknown(self):
        """One more slot, of a kind that version 1 does not have."""
        number = len(self.keyring.slots) + 1
        self.keyring.slots.append(
            format.Slot(200, number, NOON, NOON, b"of a later time", self.random.randbytes(7)))
        return self

    def file(self):
        return format.sealed(self.keyring.body(), self.master, self.keyring.identifier)

    def changed(self, change):
        """The file as somebody leaves it who has no secret: the digest is right for what was changed, the code is the old one."""
        code = self.file()[-64:]
        keyring = copy.deepcopy(self.keyring)
        change(keyring)
        body = keyring.body()
        return body + hashlib.sha256(body).digest() + code

    def opens(self, kind, secret, opened, slot=None, file=None):
        keys = {format.ROLES[role]: key.hex() for role, key in self.keys.items()}
        self.write(kind, secret, "opens", slot, file, {"opened slot": opened, **keys})

    def refuses(self, refusal, kind, secret, slot=None, file=None):
        self.write(kind, secret, refusal, slot, file, {})

    def write(self, kind, secret, expect, slot, file, more):
        """A recovery code is given as text, the other secrets as bytes."""
        headers = {"what": self.what, "expect": expect, format.KINDS[kind]: secret if kind == CODE else secret.hex()}
        if slot is not None:
            headers["slot"] = slot
        digits = (self.file() if file is None else file).hex()
        lines = [f"{name}: {value}" for name, value in {**headers, **more}.items()]
        lines += ["", *(digits[at:at + 64] for at in range(0, len(digits), 64))]
        (FOLDER / f"{self.name}.txt").write_text("\n".join(lines) + "\n", encoding="ascii")


def with_two(name, what):
    """The keyring that most attacks are shown on: two passphrases, FIRST for slot 1 and SECOND for slot 2."""
    return Vector(name, what).slot(PASSPHRASE, FIRST).slot(PASSPHRASE, SECOND, label=b"second")


def relocked(slot, *function):
    """Gives a slot other parameters, with nothing done to its wrapped key."""
    slot.rest = format.Slot.LOCK.pack(*function, *slot.lock[4:])


FIRST, SECOND = b"correct horse battery staple", b"Tr0ub4dor&3"
RANDOM = random.Random("secrets")
CODE_BYTES, FILE_BYTES, EXTERNAL_BYTES = RANDOM.randbytes(20), RANDOM.randbytes(32), RANDOM.randbytes(32)
TYPED = format.recovery_code(CODE_BYTES)


def ways_in():
    for name, what, function in [
            ("pbkdf2-sha256", "PBKDF2-HMAC-SHA-256", PBKDF2),
            ("pbkdf2-sha512", "PBKDF2-HMAC-SHA-512", (2, 1000, 0, 0)),
            ("scrypt", "scrypt", (3, 4, 8, 1))]:
        v = Vector(f"passphrase-{name}", f"A passphrase derived by {what} opens.")
        v.slot(PASSPHRASE, FIRST, function).opens(PASSPHRASE, FIRST, 1)
    v = Vector("recovery-code", "A recovery code opens, typed as it was shown.")
    v.slot(CODE, CODE_BYTES).opens(CODE, TYPED, 1)
    v = Vector("recovery-code-as-typed", "Spaces, dashes, lower case, I and L for 1, O for 0 change nothing in a recovery code.")
    secret = b"\x00\x44\x10\x00" * 5  # its code has zeros and ones
    typed = format.recovery_code(secret).lower().replace("-", " ").replace("1", "l", 2).replace("1", "I", 2)
    v.slot(CODE, secret).opens(CODE, typed.replace("0", "o", 3).replace("0", "O", 2).replace(" ", "--", 1), 1)
    v = Vector("key-file", "A key file of 32 bytes, the fewest there may be, opens.")
    v.slot(KEY_FILE, FILE_BYTES).opens(KEY_FILE, FILE_BYTES, 1)
    v = Vector("key-file-line-end", "A line end at the end of a key file counts.")
    v.slot(KEY_FILE, FILE_BYTES + b"\n").opens(KEY_FILE, FILE_BYTES + b"\n", 1)
    v = Vector("external", "An external secret opens.")
    v.slot(EXTERNAL, EXTERNAL_BYTES).opens(EXTERNAL, EXTERNAL_BYTES, 1)
    for name, what, passphrase in [
            ("nul", "A passphrase with a zero byte in it is not cut there.", b"before\0after"),
            ("line-end", "A line end at the end of a passphrase counts.", b"passphrase\n"),
            ("one-byte", "A passphrase of one byte opens.", b"x")]:
        v = Vector(f"passphrase-{name}", what)
        v.slot(PASSPHRASE, passphrase).opens(PASSPHRASE, passphrase, 1)
    v = Vector("passphrase-not-normalised", "A letter with its accent as two characters is another passphrase than as one.")
    v.slot(PASSPHRASE, "caf\u00e9".encode()).refuses("wrongSecret", PASSPHRASE, "cafe\u0301".encode())


def commands():
    def good(name, what, *arguments):
        Vector(f"command-{name}", what).command(*arguments).opens(COMMAND, EXTERNAL_BYTES, 1)

    def damaged(name, what, *arguments, tail=None, function=(0, 0, 0, 0)):
        v = Vector(f"command-{name}", what).slot(PASSPHRASE, FIRST)
        v.command(*arguments, tail=tail, function=function).refuses("damaged", PASSPHRASE, FIRST)

    good("opens", "What the command of a slot printed opens.", b"/usr/bin/age", b"--decrypt", b"a file")
    good("argument-empty", "An argument of a command may be empty.", b"/bin/x", b"", b"y")
    good("arguments-32", "A command has 32 arguments.", b"/bin/x", *[b"y"] * 31)
    good("argument-longest", "An argument has 255 bytes.", b"/" + b"x" * 254)
    good("longest", "A command has 1,024 bytes.", *[b"/" + b"x" * 254] * 4, b"1234")
    good("printable", "All printable characters of ASCII.", b"/bin/x", bytes(range(0x20, 0x7f)))
    damaged("too-long", "A command has not 1,025 bytes.", *[b"/" + b"x" * 254] * 4, b"12345")
    damaged("none", "A command has a program.", tail=b"\0")
    damaged("missing", "A slot of a command has one.", tail=b"")
    damaged("arguments-33", "A command has not 33 arguments.", b"/bin/x", *[b"y"] * 32)
    damaged("relative", "The path of the program is absolute.", b"bin/x")
    damaged("program-empty", "The path of the program is not empty.", b"", b"/bin/x")
    damaged("control", "No argument has a control character.", b"/bin/x", b"a\nb")
    damaged("delete", "No argument has the character DEL.", b"/bin/x", b"a\x7fb")
    damaged("not-ascii", "No argument has a character that is not ASCII.", b"/bin/x", "\u0430ge".encode())
    damaged("not-utf8", "No argument has a byte that is not ASCII.", b"/bin/x", b"\xff")
    damaged("byte-after", "Nothing follows the arguments.", tail=b"\1\6/bin/x\0")
    damaged("cut", "The last argument is whole.", tail=b"\1\7/bin/x")
    damaged("fewer", "All arguments are there.", tail=b"\2\6/bin/x")
    v = Vector("command-function-2", "What a command prints goes through no function for passphrases.").slot(PASSPHRASE, FIRST)
    v.command(b"/bin/x", function=(2, 1000, 0, 0)).refuses("damaged", PASSPHRASE, FIRST)
    v = Vector("command-as-external", "What a command printed opens no slot of an external secret, and the other way round.")
    v.slot(EXTERNAL, EXTERNAL_BYTES).refuses("wrongSecret", COMMAND, EXTERNAL_BYTES)
    v = Vector("external-as-command", "An external secret opens no slot of a command.")
    v.command(b"/bin/x").refuses("wrongSecret", EXTERNAL, EXTERNAL_BYTES)

    def other(keyring):
        slot = keyring.slots[0]
        slot.rest = slot.rest.replace(b"/bin/x", b"/bin/y")
    for name, what, kind, secret in [
            ("changed", "A command that was changed is seen, also where its slot opens.", COMMAND, EXTERNAL_BYTES),
            ("changed-other", "The command of another slot that was changed is seen.", PASSPHRASE, FIRST)]:
        v = Vector(f"command-{name}", what).command(b"/bin/x").slot(PASSPHRASE, FIRST)
        v.refuses("altered", kind, secret, file=v.changed(other))
    v = Vector("command-to-external", "A slot of a command that was made one of an external secret does not open.")
    v.command(b"/bin/x")

    def kind_changed(keyring):
        keyring.slots[0].kind = EXTERNAL
        keyring.slots[0].rest = keyring.slots[0].rest[:format.Slot.LOCK.size]
    v.refuses("wrongSecret", EXTERNAL, EXTERNAL_BYTES, file=v.changed(kind_changed))


def which_slot():
    v = Vector("unknown-kind-ends-with-label", "A slot of an unknown kind may end with its label.").slot(PASSPHRASE, FIRST)
    v.unknown().keyring.slots[-1].rest = b""
    v.opens(PASSPHRASE, FIRST, 1)
    v = Vector("slot-named-of-another-kind", "A slot that is named and is of another kind than the secret opens nothing.")
    v.slot(PASSPHRASE, FIRST).slot(EXTERNAL, EXTERNAL_BYTES).refuses("wrongSecret", PASSPHRASE, FIRST, slot=2)
    with_two("second-slot", "The second of two passphrases opens its own slot.").opens(PASSPHRASE, SECOND, 2)
    v = Vector("other-kinds-passed", "A slot of another kind is passed over, and one of the secret's kind behind it opens.")
    v.slot(PASSPHRASE, FIRST).slot(EXTERNAL, EXTERNAL_BYTES).slot(KEY_FILE, FILE_BYTES).opens(KEY_FILE, FILE_BYTES, 3)
    v = Vector("numbers-in-any-order", "Slots stand in any order of their numbers, which go to 65535.")
    v.slot(PASSPHRASE, FIRST, number=65_535).slot(PASSPHRASE, SECOND, number=2).opens(PASSPHRASE, FIRST, 65_535)
    v = Vector("slots-32", "A keyring has 32 slots, and the last of them opens.")
    for number in range(1, 33):
        v.slot(EXTERNAL, EXTERNAL_BYTES + bytes([number]))
    v.opens(EXTERNAL, EXTERNAL_BYTES + bytes([32]), 32)
    v = Vector("unknown-kind-last", "A slot of an unknown kind is passed over, and counts in digest and code.")
    v.slot(PASSPHRASE, FIRST).unknown().opens(PASSPHRASE, FIRST, 1)
    v = Vector("unknown-kind-between", "A slot of an unknown kind between two others hides neither.")
    v.slot(PASSPHRASE, FIRST).unknown().slot(PASSPHRASE, SECOND).opens(PASSPHRASE, SECOND, 3)
    v = with_two("slot-named", "The slot that is named opens.")
    v.opens(PASSPHRASE, SECOND, 2, slot=2)
    v = with_two("slot-named-other", "A secret does not open when a slot is named that is not its own.")
    v.refuses("wrongSecret", PASSPHRASE, FIRST, slot=2)
    v = with_two("slot-named-missing", "A slot is named that is not there.")
    v.refuses("noSuchSlot", PASSPHRASE, FIRST, slot=3)
    with_two("passphrase-wrong", "A passphrase that is no slot's does not open.").refuses("wrongSecret", PASSPHRASE, b"wrong")
    v = Vector("kind-wrong", "The right bytes do not open as a secret of another kind.")
    v.slot(PASSPHRASE, FILE_BYTES).slot(EXTERNAL, EXTERNAL_BYTES).refuses("wrongSecret", EXTERNAL, FILE_BYTES)
    v = Vector("kind-missing", "A secret does not open a keyring that has no slot of its kind.")
    v.slot(PASSPHRASE, FILE_BYTES).refuses("wrongSecret", EXTERNAL, FILE_BYTES)


def what_is_in_it():
    v = Vector("two-key-records", "A keyring whose database is to have a new key opens with both.", roles=(1, 2))
    v.slot(PASSPHRASE, FIRST).opens(PASSPHRASE, FIRST, 1)
    for count, what in [(0, "no key"), (1, "one key"), (16, "16 keys"), (255, "255 keys")]:
        v = Vector(f"given-up-{count}", f"A keyring with {what} retired opens."
                   if count < 2 else f"A keyring with {what} retired opens.")
        for age in range(count, 0, -1):
            key = format.wrap(format.wrapping_key(v.master, v.keyring.identifier), v.random.randbytes(32))
            older = format.OlderKey(NOON - age * DAY, NOON - (age + 1) * DAY, v.random.randbytes(16), key)
            v.keyring.older.append(older)
        v.slot(PASSPHRASE, FIRST).opens(PASSPHRASE, FIRST, 1)
    for name, what, label in [
            ("empty", "A label may be empty.", b""),
            ("longest", "A label may have 128 bytes.", b"l" * 128),
            ("not-ascii", "A label may have characters that are not ASCII.", "Gerät – 鍵 🔑".encode())]:
        v = Vector(f"label-{name}", what)
        v.slot(PASSPHRASE, FIRST, label=label).opens(PASSPHRASE, FIRST, 1)
    v = Vector("writer-longest", "The version of the CipherDB that wrote the keyring may have 32 bytes.")
    v.keyring.writer = b"1.0-".ljust(32, b"0")
    v.slot(PASSPHRASE, FIRST).opens(PASSPHRASE, FIRST, 1)
    v = Vector("time-largest", "A time may be 2^40.")
    v.keyring.written = 1 << 40
    v.slot(PASSPHRASE, FIRST).opens(PASSPHRASE, FIRST, 1)
    v = Vector("generation-largest", "A generation may be 2^64 - 1.")
    v.keyring.generation = (1 << 64) - 1
    v.slot(PASSPHRASE, FIRST).opens(PASSPHRASE, FIRST, 1)


def notes():
    def noted(v, *notes, tail=b"", count=None):
        number = len(v.keyring.slots) + 1
        rest = bytes([len(notes) if count is None else count]) + b"".join(
            repository + generation.to_bytes(8, "big") for repository, generation in notes) + tail
        v.keyring.slots.append(format.Slot(format.NOTES, number, NOON, NOON, b"", rest))
        return v

    def repository(v):
        return v.random.randbytes(16)

    v = Vector("notes-one", "A slot with notes of backups opens nothing, and hides no slot.")
    noted(v, (repository(v), 7)).slot(PASSPHRASE, FIRST).opens(PASSPHRASE, FIRST, 2)
    v = Vector("notes-32", "Generations of 32 repositories are noted.").slot(PASSPHRASE, FIRST)
    noted(v, *[(repository(v), (1 << 64) - 1 - n) for n in range(32)]).opens(PASSPHRASE, FIRST, 1)
    for name, what, count, options in [
            ("none", "Notes of no repository are no notes.", 0, {}),
            ("33", "Generations of at most 32 repositories are noted.", 33, {}),
            ("byte-after", "Nothing follows the notes.", 1, {"tail": b"\0"}),
            ("too-short", "There are as many notes as the slot says.", 1, {"count": 2})]:
        v = Vector(f"notes-{name}", what).slot(PASSPHRASE, FIRST)
        noted(v, *[(repository(v), 1) for _ in range(count)], **options).refuses("damaged", PASSPHRASE, FIRST)
    v = Vector("notes-repository-twice", "A repository has one note.").slot(PASSPHRASE, FIRST)
    noted(v, (bytes(16), 1), (bytes(16), 2)).refuses("damaged", PASSPHRASE, FIRST)
    v = Vector("notes-slot-twice", "There is one slot with notes.").slot(PASSPHRASE, FIRST)
    noted(noted(v, (bytes(16), 1)), (bytes(15) + b"\1", 2)).refuses("damaged", PASSPHRASE, FIRST)
    v = Vector("notes-changed", "A note that was changed is seen.").slot(PASSPHRASE, FIRST)
    noted(v, (repository(v), 7))

    def lower(keyring):
        keyring.slots[1].rest = keyring.slots[1].rest[:-1] + b"\6"

    v.refuses("altered", PASSPHRASE, FIRST, file=v.changed(lower))


def no_keyring():
    def start(name, what, refusal, magic):
        v = Vector(name, what).slot(PASSPHRASE, FIRST)
        file = format.sealed(magic + v.keyring.body()[10:], v.master, v.keyring.identifier)
        v.refuses(refusal, PASSPHRASE, FIRST, file=file)
    start("magic-wrong", "A file that starts with other bytes is no keyring.", "notAKeyring", b"CipherKr\0\1")
    start("version-0", "There is no version 0.", "unknownVersion", b"CipherKR\0\0")
    start("version-2", "Version 2 is unknown.", "unknownVersion", b"CipherKR\0\2")
    start("version-256", "The version has two bytes.", "unknownVersion", b"CipherKR\1\1")
    v = Vector("version-before-digest", "An unknown version is said before the digest is looked at.").slot(PASSPHRASE, FIRST)
    v.refuses("unknownVersion", PASSPHRASE, FIRST, file=b"CipherKR\0\2" + v.file()[10:])
    for name, what, refusal, size in [
            ("empty", "An empty file is no keyring.", "notAKeyring", 0),
            ("cut-in-magic", "A file of seven bytes is no keyring.", "notAKeyring", 7),
            ("cut-after-version", "A keyring that ends after its version is damaged.", "damaged", 10),
            ("cut-before-digest", "A keyring that ends before its digest is damaged.", "damaged", -96),
            ("cut-before-code", "A keyring that ends before its code is damaged.", "damaged", -64),
            ("cut-by-one", "A keyring without its last byte is damaged.", "damaged", -1)]:
        v = Vector(name, what).slot(PASSPHRASE, FIRST)
        v.refuses(refusal, PASSPHRASE, FIRST, file=v.file()[:size])
    v = Vector("byte-after-code", "Nothing follows the code.").slot(PASSPHRASE, FIRST)
    v.refuses("damaged", PASSPHRASE, FIRST, file=v.file() + b"\0")
    v = Vector("digest-wrong", "A digest that is wrong is damage, though the code is right for it.").slot(PASSPHRASE, FIRST)
    body = v.keyring.body()
    before = body + hashlib.sha256(body + b"\0").digest()
    file = before + format.code(v.master, v.keyring.identifier, before)
    v.refuses("damaged", PASSPHRASE, FIRST, file=file)


def structure():
    """Each of these has the right digest and code, so that its structure alone is wrong."""
    def damaged(name, what, change, roles=(1,)):
        v = Vector(name, what, roles).slot(PASSPHRASE, FIRST)
        change(v)
        v.refuses("damaged", PASSPHRASE, FIRST)

    def setting(**values):
        return lambda v: v.keyring.__dict__.update(values)

    def setting_slot(**values):
        return lambda v: v.keyring.slots[0].__dict__.update(values)

    damaged("writer-33-bytes", "The version of the writer has at most 32 bytes.", setting(writer=b"1" * 33))
    damaged("writer-not-utf8", "The version of the writer is UTF-8.", setting(writer=b"1.\xff"))
    damaged("time-too-large", "No time is above 2^40.", setting(written=(1 << 40) + 1))
    damaged("records-0", "There is a key record.", setting(records=[]))
    damaged("records-3", "There are at most two key records.", lambda v: v.record(2), roles=(1, 2))
    damaged("role-2-alone", "The first key record has role 1.", lambda v: None, roles=(2,))
    damaged("role-3", "There is no role 3.", lambda v: None, roles=(1, 3))
    damaged("role-twice", "There is one key record of each role.", lambda v: v.record(1))
    damaged("roles-in-wrong-order", "Role 1 stands before 2.", lambda v: v.keyring.records.reverse(), roles=(1, 2))
    damaged("slots-0", "There is a slot.", setting(slots=[]))
    damaged("slots-33", "There are at most 32 slots.",
            lambda v: [v.slot(EXTERNAL, EXTERNAL_BYTES) for _ in range(32)])
    damaged("kind-0", "No slot is of kind 0.", setting_slot(kind=0))
    damaged("number-0", "No slot has the number 0.", lambda v: v.slot(PASSPHRASE, SECOND, number=0))
    damaged("number-twice", "No two slots have the same number.", lambda v: v.slot(PASSPHRASE, SECOND, number=1))
    damaged("number-twice-unknown-kind", "A slot of an unknown kind has a number of its own, too.",
            lambda v: v.unknown().slot(PASSPHRASE, SECOND, number=2))
    damaged("slot-time-too-large", "No time of a slot is above 2^40.", setting_slot(changed=(1 << 40) + 1))
    damaged("label-129-bytes", "A label has at most 128 bytes.", setting_slot(label=b"l" * 129))
    damaged("label-control", "A label has no control characters.", setting_slot(label=b"a\nb"))
    damaged("label-not-utf8", "A label is UTF-8.", setting_slot(label=b"caf\xe9"))
    damaged("label-surrogate", "Half of a surrogate pair is not UTF-8.", setting_slot(label=b"\xed\xa0\x80"))
    damaged("passphrase-function-0", "No passphrase goes without a function.",
            lambda v: v.slot(PASSPHRASE, SECOND, (0, 0, 0, 0)))
    damaged("key-file-function-2", "No key file goes through a function that is for passphrases.",
            lambda v: v.slot(KEY_FILE, FILE_BYTES, (2, 1000, 0, 0)))

    def longer(v):
        v.keyring.slots[0].rest += b"\0"

    def shorter(v):
        v.keyring.slots[0].rest = v.keyring.slots[0].rest[:-1]
    def cut_unknown(v):
        """A slot of an unknown kind that ends within its label."""
        v.unknown()
        body = v.keyring.body()
        end = len(body) - len(v.keyring.slots[-1].rest) - 1
        size = end - (len(body) - 20 - len(v.keyring.slots[-1].label) - len(v.keyring.slots[-1].rest))
        at = end - size - 2
        return body[:at] + size.to_bytes(2, "big") + body[at + 2:end]
    v = Vector("unknown-kind-too-short", "A slot of an unknown kind has a whole label.").slot(PASSPHRASE, FIRST)
    v.refuses("damaged", PASSPHRASE, FIRST, file=format.sealed(cut_unknown(v), v.master, v.keyring.identifier))
    damaged("byte-after-wrapped-key", "Nothing follows the wrapped key in a slot of a known kind.", longer)
    damaged("slot-too-short", "A slot of a known kind has its whole wrapped key.", shorter)
    v = Vector("byte-after-slots", "Nothing stands between the last slot and the digest.").slot(PASSPHRASE, FIRST)
    file = format.sealed(v.keyring.body() + b"\0", v.master, v.keyring.identifier)
    v.refuses("damaged", PASSPHRASE, FIRST, file=file)
    v = Vector("slot-beyond-end", "A slot does not reach into the digest.").slot(PASSPHRASE, FIRST)
    body = v.keyring.body()
    at = len(body) - 2 - 20 - len(b"first") - format.Slot.LOCK.size - 1
    assert int.from_bytes(body[at + 1:at + 3], "big") == len(body) - at - 3
    body = body[:at + 1] + (len(body) - at - 3 + 1).to_bytes(2, "big") + body[at + 3:]
    v.refuses("damaged", PASSPHRASE, FIRST, file=format.sealed(body, v.master, v.keyring.identifier))


def unusable():
    for name, what, function in [
            ("function-unknown", "A slot with an unknown function is unusable.", (5, 1, 1, 1)),
            ("pbkdf2-sha256-costly", "PBKDF2-SHA-256 is not done beyond 4,500,000 iterations.", (1, 4_500_001, 0, 0)),
            ("pbkdf2-sha512-costly", "PBKDF2-SHA-512 is not done beyond 2,304,000 iterations.", (2, 2_304_001, 0, 0)),
            ("pbkdf2-zero", "PBKDF2 is not done with no iterations.", (1, 0, 0, 0)),
            ("pbkdf2-second-parameter", "PBKDF2 is not done with a second parameter.", (1, 1000, 1, 0)),
            ("scrypt-memory", "scrypt is not done beyond 64 MiB.", (3, 16, 9, 1)),
            ("scrypt-work", "scrypt is not done beyond N * r * p = 2,700,000.", (3, 16, 7, 6)),
            ("scrypt-huge", "scrypt is not done with a logarithm of N that no number holds.", (3, (1 << 32) - 1, 8, 1)),
            ("argon2id-memory", "Argon2id is not done beyond 65,536 KiB.", (4, 65_537, 1, 1))]:
        v = Vector(f"unusable-{name}", what)
        v.slot(PASSPHRASE, FIRST, function, tried=False).refuses("unusableSlot", PASSPHRASE, FIRST)
    v = Vector("unusable-external-parameter", "A slot without a function is unusable when it has a parameter.")
    v.slot(EXTERNAL, EXTERNAL_BYTES, (0, 1, 0, 0), tried=False).refuses("unusableSlot", EXTERNAL, EXTERNAL_BYTES)
    v = Vector("unusable-passed", "A slot that cannot be tried keeps no other from opening, and costs nothing.")
    for _ in range(2):
        v.slot(PASSPHRASE, FIRST, (1, 4_500_001, 0, 0), tried=False)
    v.slot(PASSPHRASE, SECOND).opens(PASSPHRASE, SECOND, 3)
    v = Vector("unusable-and-wrong", "Where no slot opens and one cannot be tried, it is that one that is said.")
    v.slot(PASSPHRASE, FIRST, (5, 1, 1, 1), tried=False).slot(PASSPHRASE, SECOND)
    v.refuses("unusableSlot", PASSPHRASE, b"wrong")

    def costly(name, what):
        """A slot that costs all that may be spent, behind one that costs next to nothing."""
        v = Vector(name, what).slot(PASSPHRASE, FIRST).slot(PASSPHRASE, SECOND, (1, 4_500_000, 0, 0), tried=False)
        return v.slot(PASSPHRASE, SECOND)
    v = costly("too-many-slots", "Slots that cost too much together are not all tried.")
    v.refuses("tooManySlots", PASSPHRASE, SECOND)
    v = costly("too-many-slots-first-opens", "A slot opens though those behind it would cost too much.")
    v.opens(PASSPHRASE, FIRST, 1)
    # Their sum in floating point is above the limit by a last bit.
    v = Vector("costs-at-the-limit", "Slots are all tried whose costs are the limit exactly.")
    for iterations in (2_554_510, 1_857_310, 88_180):
        v.slot(PASSPHRASE, SECOND, (1, iterations, 0, 0), tried=False)
    v.refuses("wrongSecret", PASSPHRASE, FIRST)
    v = Vector("costs-above-the-limit", "An iteration above the limit is too much.")
    for iterations in (88_181, 1_857_310, 2_554_510):
        v.slot(PASSPHRASE, SECOND, (1, iterations, 0, 0), tried=False)
    v.refuses("tooManySlots", PASSPHRASE, FIRST)
    v = costly("too-many-slots-named", "A slot that is named is tried alone, whatever the others cost.")
    v.opens(PASSPHRASE, SECOND, 3, slot=3)


def attacks():
    v = with_two("code-wrong", "A code that is wrong is an alteration.")
    file = bytearray(v.file())
    file[-1] ^= 1
    v.refuses("altered", PASSPHRASE, FIRST, file=bytes(file))

    def attack(name, what, refusal, secret, change, roles=(1,)):
        v = Vector(name, what, roles).slot(PASSPHRASE, FIRST).slot(PASSPHRASE, SECOND, label=b"second")
        v.refuses(refusal, PASSPHRASE, secret, file=v.changed(change))

    def weaken(keyring):
        relocked(keyring.slots[0], 1, 1, 0, 0)

    def renumber(keyring):
        keyring.slots[0].number = 7

    attack("slot-weakened", "A slot with fewer iterations than it was made with does not open.", "wrongSecret", FIRST, weaken)
    attack("slot-weakened-other", "Another slot with fewer iterations is seen.", "altered", SECOND, weaken)
    attack("slot-number-changed", "A slot under another number does not open.", "wrongSecret", FIRST, renumber)
    attack("slot-number-changed-other", "Another slot under another number is seen.", "altered", SECOND, renumber)
    attack("slot-removed", "A slot that was taken out is seen.", "altered", SECOND, lambda keyring: keyring.slots.pop(0))
    attack("slots-swapped", "Slots in another order are seen.", "altered", FIRST, lambda keyring: keyring.slots.reverse())
    attack("label-changed", "A label that was changed is seen.", "altered", FIRST,
           lambda keyring: setattr(keyring.slots[0], "label", b"other"))
    attack("generation-changed", "A generation that was changed is seen.", "altered", FIRST,
           lambda keyring: setattr(keyring, "generation", 2))
    attack("identifier-changed", "Under another identifier no slot opens.", "wrongSecret", FIRST,
           lambda keyring: setattr(keyring, "identifier", bytes(16)))
    attack("key-record-removed", "A key record that was taken out is seen.", "altered", FIRST,
           lambda keyring: keyring.records.pop(), roles=(1, 2))
    attack("unknown-kind-added", "A slot of an unknown kind that was put in is seen.", "altered", FIRST,
           lambda keyring: keyring.slots.append(format.Slot(200, 9, NOON, NOON, b"", b"")))
    v = Vector("slot-kind-changed", "A slot does not open as one of another kind.")
    v.slot(KEY_FILE, FILE_BYTES)
    file = v.changed(lambda keyring: setattr(keyring.slots[0], "kind", EXTERNAL))
    v.refuses("wrongSecret", EXTERNAL, FILE_BYTES, file=file)
    for name, what, refusal, secret in [
            ("slot-copied", "A slot of another keyring does not open in this one.", "wrongSecret", b"mine"),
            ("slot-copied-other", "A slot of another keyring that was put in is seen.", "altered", FIRST)]:
        other = Vector(f"{name}, the other", "").slot(PASSPHRASE, b"mine", number=9)
        v = Vector(name, what).slot(PASSPHRASE, FIRST)
        file = v.changed(lambda keyring: keyring.slots.extend(other.keyring.slots))
        v.refuses(refusal, PASSPHRASE, secret, file=file)


OWN = pathlib.Path(__file__).resolve().parent.parent / "CipherKeysTests/Vectors/Keyring"
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else OWN

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for group in (ways_in, commands, which_slot, what_is_in_it, notes, no_keyring, structure, unusable, attacks):
        group()
