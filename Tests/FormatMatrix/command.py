"""The `rekey` command, told what a cell of the matrix is."""
import json
import os
import subprocess

from engines import needs_salt
from parameters import STANDARD

# What the command tries unless it is told more.
SEARCHED_ITERATIONS = (4000, 64000, 256000)


def is_passphrase(cell):
    return cell["key_kind"] == "passphrase"


def is_beta(each):
    """SQLCipher 2.0 beta: the one format with another fast_kdf_iter that is tried."""
    return (each.kdf_algorithm, each.kdf_iter, each.hmac_algorithm, each.hmac_salt_mask, each.fast_kdf_iter) == ("sha1", 4000, "sha1", 0, 4000)


def is_found(cell):
    """Whether the command finds the parameters by itself, apart from PBKDF2 iterations."""
    each = cell["parameters"]
    if each.hmac_algorithm is None:
        # Those of SQLCipher 1.
        return is_passphrase(cell) and (each.kdf_algorithm, each.kdf_iter, each.plaintext_header) == ("sha1", 4000, 0)
    return each.hmac_salt_mask in ((0x3A, 0) if is_passphrase(cell) else (0x3A,)) and (each.fast_kdf_iter == 2 or is_beta(each) and is_passphrase(cell))


def format_options(each, prefix=""):
    """All parameters, as options."""
    options = ["--format", each.version, "--cipher-page-size", each.page_size, "--kdf-algorithm", each.kdf_algorithm,
               "--hmac-algorithm", each.hmac_algorithm or "none", "--hmac-pgno", each.hmac_pgno,
               "--hmac-salt-mask", "%02x" % each.hmac_salt_mask, "--fast-kdf-iter", each.fast_kdf_iter,
               "--plaintext-header", each.plaintext_header]
    return ["--" + prefix + text[2:] if text.startswith("--") else text for text in map(str, options)]


class Rekey:
    def __init__(self, path, scratch):
        self.path = path
        self.scratch = scratch

    def secret(self, cell, prefix=""):
        """Options for a key, which is written to a file."""
        path = os.path.join(self.scratch, prefix + "secret")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(cell["key"])
        return ["--" + prefix + ("passphrase-file" if is_passphrase(cell) else "key-file"), path]

    def present(self, cell, told=False):
        """Options for a file as it is. What is found is told only if `told`."""
        each = cell["parameters"]
        options = self.secret(cell)
        if needs_salt(cell):
            options += ["--salt", cell["salt"]]
        if told or not is_found(cell):
            options += format_options(each, "file-")
        if is_passphrase(cell) and (told or each.kdf_iter not in SEARCHED_ITERATIONS):
            options += ["--file-kdf-iter", str(each.kdf_iter)]
        return options

    def run(self, command, *arguments):
        """What it prints as JSON, with `exitStatus`, and `command` for a report."""
        words = [command, *map(str, arguments), "--json"]
        done = subprocess.run([self.path, *words], capture_output=True, text=True, timeout=300, errors="replace")
        lines = done.stdout.strip().splitlines()
        reply = json.loads(lines[-1]) if lines else {"message": done.stderr.strip()}
        return reply | {"exitStatus": done.returncode, "command": "rekey " + " ".join(words)}


def differences(cell, found):
    """The parameters in `found`, an object of the command's, that are not the cell's; those that the key and the MAC leave open do not count."""
    each = cell["parameters"]
    expected = {"pageSize": each.page_size, "hmacAlgorithm": each.hmac_algorithm or "none", "plaintextHeader": each.plaintext_header}
    if is_passphrase(cell):
        expected |= {"kdfIter": each.kdf_iter, "kdfAlgorithm": each.kdf_algorithm}
    if each.hmac_algorithm:
        expected |= {"kdfAlgorithm": each.kdf_algorithm, "hmacPgno": "be" if each.hmac_pgno == "be" else "le",
                     "hmacSaltMask": "%02x" % each.hmac_salt_mask, "fastKdfIter": each.fast_kdf_iter,
                     "hmacKeyKdfAlgorithm": each.mac_key_algorithm or each.kdf_algorithm}
    standard = [version for version, own in STANDARD.items() if own == each]
    if standard and (is_passphrase(cell) or standard[0] == 4):
        expected["version"] = standard[0]
    said = {name: value.lower() if isinstance(value, str) else value for name, value in found.items()}
    return ["%s is %s, not %s" % (name, said.get(name), value) for name, value in expected.items() if said.get(name) != value]
