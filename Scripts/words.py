#!/usr/bin/env python3
"""Refuses words of our own making where the field has a term: in documents, help, messages, comments and names of tests.

Prints each line that has one, with the term to use, and exits with 1. The list is short, so that it has no false alarms.
"""

import re
import subprocess
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
    (r"\bshall\b", "must, or the present tense"),
]


def files():
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    for path in listed:
        if path.endswith((".md", ".swift", ".sh", ".py", ".toml", ".h", "Makefile")) and path not in ("Scripts/words.py", "Documentation/Promises.md"):
            yield path


def main():
    found = 0
    for path in files():
        with open(path, encoding="utf-8") as file:
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
