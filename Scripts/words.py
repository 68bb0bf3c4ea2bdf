#!/usr/bin/env python3
"""Refuses words of our own making where the field has a term: in documents, help, messages, comments and names of tests.

Prints each line that has one, with the term to use, and exits with 1. The list is short, so that it has no false alarms.
"""

import os
import re
import sys

WORDS = [
    (r"\b[Ww]hoever\b", "name the person or the caller"),
    (r"\bwhat is the matter\b|\bwhat is wrong\b", "the cause, the error"),
    (r"\bway out\b", "what to do"),
    (r"\bway in\b|\bways in\b", "slot"),
    (r"\bgiven up\b|\bgive(s)? up for good\b", "retired, deleted"),
    (r"\banew\b", "again"),
    (r"\bunseen\b", "undetected"),
    (r"\b[Ss]tretch(es|ed|ing)?\b", "derive, run the KDF"),
    (r"\bplain text\b", "plaintext"),
    (r"\bin the clear\b", "in plaintext"),
    (r"\bfolders?\b", "directory"),
    (r"\baccess rights\b|\bfile's rights\b|\brights of (a|the) file\b", "permissions"),
    (r"\bauthentication codes?\b", "MAC"),
    (r"\bsecond name\b|\bseveral names\b", "hard link"),
    (r"\bcut[- ]off transaction\b", "hot journal"),
    (r"\bolder keys\b", "retired keys"),
    (r"\bhold(s|ing)? up\b|\bheld up\b", "block"),
    (r"\blent\b|\blends?\b", "check out, borrow"),
    (r"\brow identifiers?\b", "rowid"),
    (r"\b(database|keyring)'s keys?\b", "key of the database; current key, or a key, of the keyring"),
    (r"\bkeyring gave up\b|\b(ended|ends) or tak(en|es) back\b", "retired; completed or undone"),
    (r"\bended journals?\b", "finalized journal"),
    (r"\b(counted|stray) pages?\b|\bof any identifier\b|\block page\b", "in-header size, lost-and-found, any rowid, lock-byte page"),
    (r"\bsynced away\b|\blost by half\b", "removed and synced; incomplete"),
    (r"\blate failures?\b", "deferred error"),
    (r"\bshall\b", "must, or the present tense"),
]


ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What is generated, and this list.
LEFT_OUT = {"Scripts/words.py"}


def files():
    for directory, subdirectories, names in os.walk(ROOT):
        subdirectories[:] = sorted(name for name in subdirectories if not name.startswith("."))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(directory, name), ROOT)
            if path.endswith((".md", ".swift", ".sh", ".py", ".toml", ".h", "Makefile")) and path not in LEFT_OUT:
                yield path


def main():
    found = 0
    for path in files():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                # Names of options and identifiers may have them.
                line = re.sub(r"`[^`]*`", "", line)
                for pattern, term in WORDS:
                    match = re.search(pattern, line)
                    if match:
                        print("%s:%d: \"%s\": %s" % (path, number, match.group(), term))
                        found += 1
    if found:
        sys.exit("words: %d; see CONTRIBUTING.md" % found)


if __name__ == "__main__":
    main()
