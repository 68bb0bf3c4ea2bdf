"""The way of a cell through `rekey`: found, verified, changed, migrated, recovered, copied, decrypted and encrypted again; other engines read the results."""
import os
import shutil
import sqlite3

import cells
from command import Rekey, differences, format_options, is_passphrase
from engines import LAST, QUERY, Failure
from parameters import STANDARD, Parameters

STEPS = ["inspect", "inspect-told", "verify", "change", "migrate", "recover", "copy", "decrypt", "encrypt"]
# What becomes of a step; else what was wrong.
DONE, REFUSED = "done", "refused"
SIDES = ("", "-wal", "-journal")
NEW_KEYS = {"passphrase": "another key", "raw64": "a1" * 32, "raw96": "b2" * 32 + "c3" * 16}


class Wrong(Exception):
    """What is not as it must be."""


def limit(cell):
    """Why CipherDB has no such format, by name; None where it has."""
    each = cell["parameters"]
    if cell["content"] != "opens":
        return cell["content"]
    if cell["key_kind"] == "raw160":
        return "key with its own HMAC key"
    if each.first_page_is_plaintext:
        return "first page wholly in plaintext"
    if each.hmac_algorithm is None and each.plaintext_header > 80:
        return "no MACs behind a header over 80 bytes"
    return None


def has_foreign_mac_key(each):
    """No SQLCipher has it."""
    return each.mac_key_algorithm not in (None, each.kdf_algorithm)


def needs_log(cell):
    """The steps that need what stands in a log of which no engine has the format."""
    is_foreign = has_foreign_mac_key(cell["parameters"]) and cell["journal"] == "wal"
    return ["verify", "change", "migrate", "decrypt", "encrypt"] if is_foreign else []


def as_seen(cell):
    """Under a raw key the KDF makes the HMAC key only: which of two parameters names its hash cannot be seen."""
    each = cell["parameters"]
    if is_passphrase(cell) or not each.mac_key_algorithm:
        return cell
    return dict(cell, parameters=each.having(kdf_algorithm=each.mac_key_algorithm, mac_key_algorithm=None))


def cannot_be_written(cell):
    """CipherDB's engine has no such format, or a raw key would not prove itself in it."""
    each = cell["parameters"]
    return has_foreign_mac_key(each) or each.hmac_algorithm is None and not is_passphrase(cell)


class Passage:
    def __init__(self, command, directory, scratch, engines, expected):
        self.rekey = Rekey(command, scratch)
        self.directory, self.scratch, self.engines, self.expected = directory, scratch, engines, expected

    def duplicate(self, cell, name):
        """A copy to work on, with its log."""
        path = os.path.join(self.scratch, name)
        for side in SIDES:
            source = os.path.join(self.directory, cell["file"] + side)
            if os.path.exists(source):
                shutil.copyfile(source, path + side)
        return path

    def remove(self):
        for name in os.listdir(self.scratch):
            os.remove(os.path.join(self.scratch, name))

    def run(self, command, *arguments):
        reply = self.rekey.run(command, *arguments)
        if reply["exitStatus"]:
            raise Wrong("%s\n    %s" % (reply.get("message") or reply, reply["command"]))
        return reply

    def compare(self, cell, reply, parameters):
        wrong = differences(cell, parameters or {})
        if wrong:
            raise Wrong("%s\n    %s" % ("; ".join(wrong), reply["command"]))

    def read(self, cell, path, reply):
        """By an engine of another's."""
        names = [name for name in ("4.6.1", "4.19.0", "3.4.1", cells.MULTIPLE_CIPHERS) if self.engines[name].can_read(cell)]
        # A file of version 3 is one for its own engine, too.
        for name in names[:1] + [each for each in names[1:] if each == "3.4.1"]:
            try:
                said = self.engines[name].read(cell, path)
            except Failure as failure:
                said = [str(failure)]
            if said != [self.expected, "ok"]:
                raise Wrong("%s says %s\n    of the result of %s" % (name, " ".join(said)[:200], reply["command"]))

    def through(self, cell, number):
        """(step, DONE, REFUSED or what was wrong) of each step."""
        cell = as_seen(cell)
        for step in STEPS:
            try:
                outcome = getattr(self, step.replace("-", "_"))(cell, number) or DONE
                yield step, "a log that no engine can read was passed over" if outcome == DONE and step in needs_log(cell) else outcome
            except Wrong as wrong:
                is_refused = step in needs_log(cell) and "no write-ahead log" in str(wrong)
                yield step, REFUSED if is_refused else str(wrong)
            finally:
                self.remove()

    def inspect(self, cell, number):
        reply = self.run("inspect", self.duplicate(cell, "a.db"), *self.rekey.present(cell))
        self.compare(cell, reply, reply.get("parameters"))

    def inspect_told(self, cell, number):
        # The hash of the HMAC key has no option: it is searched for.
        if has_foreign_mac_key(cell["parameters"]):
            return REFUSED
        reply = self.run("inspect", self.duplicate(cell, "a.db"), *self.rekey.present(cell, told=True))
        self.compare(cell, reply, reply.get("parameters"))

    def verify(self, cell, number):
        pages_only = ["--pages-only"] * has_foreign_mac_key(cell["parameters"])
        reply = self.run("verify", self.duplicate(cell, "a.db"), *self.rekey.present(cell), *pages_only)
        self.compare(cell, reply, reply.get("parameters"))
        if not reply["ok"] or reply["damagedPages"] or reply["problems"]:
            raise Wrong("not sound: %s" % reply)

    def change(self, cell, number):
        path = self.duplicate(cell, "a.db")
        kind = ["passphrase", *cells.KEY_KINDS][number % 4] if is_passphrase(cell) else cells.KEY_KINDS[number % 3]
        new = dict(cell, key_kind=kind, key=NEW_KEYS[kind])
        if kind == "raw96":
            new["salt"] = new["key"][-32:]
        arguments = [path, *self.rekey.present(cell), *self.rekey.secret(new, "new-")]
        if cell["parameters"].hmac_algorithm is None:
            # Refused: nothing says whether what is read is what was written.
            reply = self.rekey.run("change", *arguments)
            if "no MACs" not in reply.get("message", ""):
                raise Wrong("not refused: %s" % reply)
            return REFUSED
        reply = self.run("change", *arguments)
        if not is_passphrase(cell):
            # What was not used, or may not stay so.
            new["parameters"] = new["parameters"].having(kdf_iter=reply["parameters"]["kdfIter"])
        self.compare(new, reply, reply.get("parameters"))
        self.read(new, path, reply)

    def migrate(self, cell, number):
        path, each = self.duplicate(cell, "a.db"), cell["parameters"]
        foreign = has_foreign_mac_key(each)
        header = each.plaintext_header
        arguments = [path, *self.rekey.present(cell), *([] if foreign else ["--format", "4"])]
        if not foreign and each.plaintext_header > each.page_size - STANDARD[4].reserve - 16:
            # Refused: the larger MAC has no room behind it.
            reply = self.rekey.run("migrate", *arguments)
            if not reply["exitStatus"] or "plaintext header of %d bytes" % each.plaintext_header not in reply.get("message", ""):
                raise Wrong("not refused: %s" % reply)
            header = 32
            arguments += ["--plaintext-header", header]
        reply = self.run("migrate", *arguments)
        if "note" in reply:
            found = self.run("inspect", path, *self.rekey.present(cell))["parameters"]
        else:
            found = reply["parameters"]
        mac = None if found["hmacAlgorithm"] == "none" else found["hmacAlgorithm"]
        becomes = Parameters(found["version"], found["pageSize"], found["kdfAlgorithm"].lower(), found["kdfIter"], mac,
                             found["hmacPgno"], int(found["hmacSaltMask"], 16), found["fastKdfIter"], None, found["plaintextHeader"])
        least = each if foreign else STANDARD[4]
        wanted = least.having(page_size=becomes.page_size, plaintext_header=header, mac_key_algorithm=None,
                              kdf_iter=becomes.kdf_iter, version=becomes.version)
        if becomes != wanted or becomes.page_size not in (4096, each.page_size) or becomes.kdf_iter < least.kdf_iter:
            raise Wrong("became %s\n    %s" % (found, reply["command"]))
        self.read(dict(cell, parameters=becomes), path, reply)

    def recover(self, cell, number):
        source, path = self.duplicate(cell, "a.db"), os.path.join(self.scratch, "b.db")
        reply = self.run("recover", source, path, *self.rekey.present(cell))
        rows = [(table["name"], table["rows"]) for table in reply["tables"]]
        if not reply["ok"] or rows != [("people", LAST)] or reply["unassignedRows"]:
            raise Wrong("recovered %s\n    %s" % (rows, reply["command"]))
        self.read_new(cell, path, reply)

    def copy(self, cell, number):
        source, path = self.duplicate(cell, "a.db"), os.path.join(self.scratch, "b.db")
        arguments = [source, path, *self.rekey.present(cell)]
        if cannot_be_written(cell):
            reply = self.rekey.run("copy", *arguments)
            if not reply["exitStatus"] or "rekey migrate" not in reply.get("message", ""):
                raise Wrong("not refused: %s" % reply)
            return REFUSED
        self.read_new(cell, path, self.run("copy", *arguments))

    def read_new(self, cell, path, reply):
        """A new file in the format of the old one, or in the command's own."""
        each = cell["parameters"]
        if cannot_be_written(cell):
            each = STANDARD[4].having(plaintext_header=0)
        elif each.page_size == 512 and reply["command"].startswith("rekey recover"):
            # The engine cannot compact a file of such pages.
            each = each.having(page_size=1024)
        own = dict(cell, parameters=each)
        found = self.run("inspect", path, *self.rekey.present(own))
        self.compare(own, reply, found.get("parameters"))
        self.read(own, path, reply)

    def decrypt(self, cell, number):
        path = self.duplicate(cell, "a.db")
        reply = self.run("decrypt", path, "--yes-write-plaintext", *self.rekey.present(cell))
        connection = sqlite3.connect(path)
        try:
            said = [str(row[0]) for row in connection.execute(QUERY)] + [row[0] for row in connection.execute("PRAGMA integrity_check")]
        except sqlite3.Error as error:
            said = [str(error)]
        finally:
            connection.close()
        if said != [self.expected, "ok"]:
            raise Wrong("SQLite says %s\n    of the result of %s" % (said, reply["command"]))

    def encrypt(self, cell, number):
        """The plaintext into the cell's own parameters: page by page where SQLite's reserved bytes are those of the format."""
        self.decrypt(cell, number)
        path, each = os.path.join(self.scratch, "a.db"), cell["parameters"].having(mac_key_algorithm=None)
        own = dict(cell, parameters=each, key_kind=cell["key_kind"], by_default=cell["by_default"])
        arguments = [path, *self.rekey.secret(own), *format_options(each), "--kdf-iter", each.kdf_iter, "--allow-weaker"]
        arguments += ["--salt", cell["salt"]] if each.plaintext_header and cell["key_kind"] != "raw96" else []
        if each.hmac_algorithm is None and not is_passphrase(cell):
            # Refused: anybody could have written what opens.
            reply = self.rekey.run("encrypt", *arguments)
            if not reply["exitStatus"] or "MAC" not in reply.get("message", ""):
                raise Wrong("not refused: %s" % reply)
            return REFUSED
        if each.page_size == 512:
            # Refused: SQLCipher 4 does not initialise such a file for the content of another.
            reply = self.rekey.run("encrypt", *arguments)
            if not reply["exitStatus"] or "512 bytes" not in reply.get("message", ""):
                raise Wrong("not refused: %s" % reply)
            return REFUSED
        reply = self.run("encrypt", *arguments)
        self.compare(own, reply, reply.get("parameters"))
        self.read(own, path, reply)
