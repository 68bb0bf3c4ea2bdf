"""A wrong key, a wrong parameter, a missing one, another cipher, damage: whether `rekey` says which it was."""
import os
import random

from command import SEARCHED_ITERATIONS, Rekey, differences, is_found, is_passphrase
from engines import needs_salt
from passage import as_seen, limit

# With the MACs of AES-256-CBC: the key proves itself, and the content does not.
CIPHERS_OF_SAME_KEY_SIZE = ("aes-256-cfb", "aes-256-ctr", "camellia-256-cbc")
PLAIN = {"notEncrypted": "plaintext"}
# A value that a file may have, for one that it has.
OTHERS = {"cipher-page-size": ["1024", "4096", "16384"], "kdf-algorithm": ["sha1", "sha256", "sha512"],
          "hmac-algorithm": ["sha1", "sha256", "sha512"], "hmac-pgno": ["le", "be"], "hmac-salt-mask": ["3a", "00", "77"],
          "fast-kdf-iter": ["1", "2", "3"]}


def wrong_key(cell, chance):
    return dict(cell, key={"passphrase": "a wrong key", "raw64": "d4" * 32, "raw96": "d4" * 32 + cell["key"][-32:]}[cell["key_kind"]])


def options_for_wrong_key(rekey, cell, chance):
    return rekey.present(wrong_key(cell, chance), told=chance.random() < 0.5)


def options_without_iterations(rekey, cell, chance):
    return rekey.present(dict(cell, parameters=cell["parameters"].having(kdf_iter=4000)))


def options_with_wrong_iterations(rekey, cell, chance):
    return options_without_iterations(rekey, cell, chance) + ["--file-kdf-iter", "%d,7777" % (cell["parameters"].kdf_iter + 1)]


def options_with_several_iterations(rekey, cell, chance):
    return options_without_iterations(rekey, cell, chance) + ["--file-kdf-iter", "7777,%d" % cell["parameters"].kdf_iter]


def without(options, name):
    place = options.index(name)
    return options[:place] + options[place + 2:]


def options_without_salt(rekey, cell, chance):
    return without(rekey.present(cell), "--salt")


def options_with_wrong_salt(rekey, cell, chance):
    return without(rekey.present(cell), "--salt") + ["--salt", "0123456789abcdef" * 2]


def options_with_wrong_parameter(rekey, cell, chance):
    name = chance.choice(sorted(OTHERS))
    return rekey.present(cell) + ["--file-" + name, chance.choice(OTHERS[name])]


def options_untold(rekey, cell, chance):
    return rekey.secret(cell) + (["--salt", cell["salt"]] if needs_salt(cell) else [])


def has_unusual_iterations(cell):
    return is_passphrase(cell) and cell["parameters"].kdf_iter not in SEARCHED_ITERATIONS and is_found(cell)


def has_macs(cell):
    return cell["parameters"].hmac_algorithm is not None


def is_readable(cell):
    """The schema is in the header, so that the file reads as plaintext unless a key proves that it is not."""
    each = cell["parameters"]
    return each.plaintext_header >= each.page_size - each.reserve - 16


def has_removable_macs(cell):
    """Without MACs, which is seen under a passphrase; somebody may have removed them."""
    return not has_macs(cell) and is_passphrase(cell) and cell["parameters"].kdf_iter in SEARCHED_ITERATIONS


def is_usual(cell):
    """Found without a word about its format."""
    return is_found(cell) and (not is_passphrase(cell) or cell["parameters"].kdf_iter in SEARCHED_ITERATIONS)


def opens(cell):
    return limit(cell) is None


def error_of_untold(cell):
    """Under the right page key, page 1 decrypts: then the parameters of the HMAC key are found, and named."""
    each = cell["parameters"]
    if is_passphrase(cell) and each.kdf_iter not in SEARCHED_ITERATIONS or each.plaintext_header > 80:
        return "wrongKey"
    if not has_macs(cell):
        return "withoutMACs"
    return "otherFormat" if each.fast_kdf_iter == 2 or each.hmac_salt_mask == 0x3A else "otherMACKey"


def error_of_other_salt(cell):
    """A raw key decrypts page 1 without the salt."""
    return "wrongKey" if is_passphrase(cell) or cell["parameters"].plaintext_header > 80 else "otherMACKey"


# Of each: whether a cell can be one, (rekey, cell, chance) -> options, the word for the error, or a function of the cell that has it; None
# where the file must open.
CASES = {
    "wrong key": (lambda cell: opens(cell) and has_macs(cell), options_for_wrong_key, "wrongKey"),
    "wrong key, no MACs": (lambda cell: opens(cell) and not has_macs(cell), options_for_wrong_key, "wrongKey"),
    "iterations not told": (lambda cell: opens(cell) and has_unusual_iterations(cell), options_without_iterations, "wrongKey"),
    "other iterations told": (lambda cell: opens(cell) and has_unusual_iterations(cell), options_with_wrong_iterations, "wrongKey"),
    "several iterations told": (lambda cell: opens(cell) and has_unusual_iterations(cell), options_with_several_iterations, None),
    "salt not told": (lambda cell: opens(cell) and needs_salt(cell) and has_macs(cell), options_without_salt, "saltMissing"),
    "other salt told": (lambda cell: opens(cell) and needs_salt(cell) and has_macs(cell), options_with_wrong_salt, error_of_other_salt),
    "other parameter told": (lambda cell: opens(cell) and has_macs(cell) and is_usual(cell), options_with_wrong_parameter, None),
    "parameter not told": (lambda cell: opens(cell) and not is_found(cell) and not has_removable_macs(cell), options_untold, error_of_untold),
    "no MACs, not told": (lambda cell: opens(cell) and not is_found(cell) and has_removable_macs(cell), options_untold, "withoutMACs"),
    "another cipher": (lambda cell: cell["cipher"] in CIPHERS_OF_SAME_KEY_SIZE, options_untold, "otherCipher"),
    "another cipher and key size": (lambda cell: cell["cipher"] == "aes-128-cbc", options_untold, "wrongKey"),
    "another layout": (lambda cell: cell["legacy"] == 0, options_untold, "otherLayout"),
    "page 1 in plaintext": (lambda cell: cell["parameters"].first_page_is_plaintext and cell["journal"] == "delete", options_untold, "damaged"),
    "key with its own HMAC key": (lambda cell: cell["key_kind"] == "raw160", options_untold, "usage"),
    "page 1 damaged": (lambda cell: opens(cell) and has_macs(cell) and is_usual(cell) and cell["journal"] == "delete",
                       lambda rekey, cell, chance: rekey.present(cell), "damaged"),
    "page 1 damaged, wrong key": (lambda cell: opens(cell) and has_macs(cell) and is_usual(cell) and cell["journal"] == "delete",
                                  options_for_wrong_key, "wrongKey"),
}


def untrue(case, cell, reply, error):
    """What of the answer is not so; None if all is."""
    message = reply.get("message", "")
    if error is None:
        if reply["exitStatus"]:
            return "does not open: " + message
        return "; ".join(differences(cell, reply.get("parameters") or {})) or None
    if is_readable(cell) and error in ("wrongKey", "saltMissing") and "plaintext" in (reply.get("kind"), PLAIN.get(reply.get("error"))):
        return None
    if reply.get("error") != error:
        return "error is %s: %s" % (reply.get("error"), message or reply)
    if error == "wrongKey":
        # What was tried is said, and the file's own number is not among it where it was not told.
        if "tried" not in message:
            return "does not say what was tried: " + message
        if is_passphrase(cell) and ("4000" not in message or "256000" not in message):
            return "does not say which iterations were tried: " + message
        if "iterations" in case and " %d" % cell["parameters"].kdf_iter in message.split("tried")[1]:
            return "says that it tried what it did not: " + message
        if "other iterations" in case and "7777" not in message:
            return "does not say that it tried what it was told: " + message
    if "Traceback" in message or cell["key"] in message:
        return "says too much: " + message
    return None


def damage_first_page(path, cell):
    """In what its MAC covers, behind the plaintext header."""
    with open(path, "r+b") as file:
        place = max(16, cell["parameters"].plaintext_header) + 8
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1]))


def choose(everyone, count, seed):
    """So many random pairs of a case and a cell; with as many as there are cases, each comes up."""
    chance, names = random.Random(seed), list(CASES)
    usable = [(cell, as_seen(parsed(cell))) for cell in everyone]
    pairs = []
    for number in range(count):
        case = names[number % len(names)]
        pairs.append((case, chance.choice([cell for cell, seen in usable if CASES[case][0](seen)])))
    return pairs


def parsed(cell):
    """What a case looks at."""
    return {"parameters": cell.parameters, "key_kind": cell.key_kind, "key": cell.key, "salt": cell.salt, "journal": cell.journal,
            "content": cell.content, "cipher": cell.cipher, "legacy": cell.legacy}


def refuse(command, directory, scratch, pairs, seed):
    """What is not so, of each pair whose error does not name the cause."""
    chance, rekey = random.Random(seed), Rekey(command, scratch)
    for case, cell in pairs:
        cell = as_seen(cell)
        _, options, error = CASES[case]
        error = error(cell) if callable(error) else error
        path = os.path.join(directory, cell["file"])
        if "damaged" in case:
            damage_first_page(path, cell)
        # What opens is only looked at; a change must not begin.
        operation = chance.choice(["inspect", "verify", "change"]) if error not in (None, "damaged") else \
            "change" if error == "damaged" else "inspect"
        arguments = [operation, path, *options(rekey, cell, chance)]
        if operation == "change":
            arguments += rekey.secret(dict(cell, key_kind="passphrase", key="new"), "new-")
        before = content(path)
        reply = rekey.run(*arguments)
        wrong = "the file was changed" if content(path) != before else untrue(case, cell, reply, error)
        if wrong:
            yield "%s: %s: %s\n    %s" % (case, cell["name"], wrong, reply["command"])


def content(path):
    with open(path, "rb") as file:
        return file.read()
