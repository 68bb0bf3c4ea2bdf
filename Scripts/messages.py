#!/usr/bin/env python3
"""Writes Documentation/Messages.md: the messages of the library and the command, by subject.

Messages are the strings of the errors' descriptions, of refusals, of DatabaseError, ValidationError, notes, advice and prompts. Strings that
are put together with + are one message, or one for each alternative of a part. `…` stands for a part that is filled in. With --check the
document must be the one that would be written.
"""

import glob
import itertools
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "Documentation/Messages.md")
HEAD = """# Messages

The messages of errors, refusals, notes, advice and prompts, made from the code by `Scripts/messages.py`; do not edit. `…` is a part that is
filled in, such as a path. Not listed are the messages of SQLite, OpenSSL, the system and the command-line parser, and the results that
commands print. [Errors and what to do](../Sources/CipherDB/CipherDB.docc/ErrorsAndWhatToDo.md) explains the causes,
`rekey help exit-status` the statuses.
"""
# Files of which each string is a message or a part of one.
DESCRIPTIONS = [
    "Keys/*Error.swift", "Keys/Malformed*.swift", "Keys/Unusable*.swift", "Keys/Keyring/*Error.swift", "Sources/*/Errors/*.swift",
    "Keys/UnusableCipherFormat.swift", "Sources/CipherDB/Engine/Refusal.swift", "Sources/CipherBackup/BackupError.swift",
    "Sources/rekey/Presentation/Answer.swift", "Sources/rekey/Help/Suggestion.swift",
    "Sources/rekey/Presentation/CommandMessage.swift", "Sources/rekey/Help/OptionSuggestion.swift",
]
# What such a file has before this is no message.
BEGINS = {"Keys/UnusableCipherFormat.swift": "enum UnusableCipherFormat"}
# What such a file has after this ends the message that is given.
ENDS = {"Sources/CipherDB/Engine/Refusal.swift": ("let replacement =", "SQL may not set PRAGMA … here: ")}
# Headings, with what the paths of their files begin with. The first that fits counts.
SUBJECTS = [
    ("Opening a database", ["Sources/CipherDB/Errors/KeyError", "Sources/CipherDB/Connection", "Sources/CipherDB/Keying/UnkeyedFile",
                            "Sources/CipherDB/Keying/StoredPages", "Sources/CipherDB/Sharing"]),
    ("SQL that encrypted connections refuse", ["Sources/CipherDB/Engine/Refusal"]),
    ("Reading a secret", ["Keys/KeySource"]),
    ("Keys, formats and KDF parameters", ["Keys/Malformed", "Keys/Unusable", "Keys/SecretMemory", "Keys/UnusableCipherFormat"]),
    ("Keyrings", ["Keys/Keyring/", "Sources/CipherDB/Keying/Database+Keyring", "Sources/Rekeying/Operations/DatabaseFile+Keyring",
                  "Sources/Rekeying/Operations/DatabaseFile+Rotation"]),
    ("Changing the key or the format of a file", ["Sources/CipherDB/Errors/RekeyError", "Sources/CipherDB/Keying", "Sources/Rekeying/Operations"]),
    ("Files", ["Sources/Rekeying"]),
    ("Migrations", ["Sources/CipherDB/Migrations", "Sources/CipherDB/Errors/MigrationError"]),
    ("Queues and pools", ["Sources/CipherDB/Queue", "Sources/CipherDB/Pool"]),
    ("Rows and values", ["Sources/CipherDB/Rows", "Sources/CipherDB/Values"]),
    ("Tables", ["Sources/CipherDB/Tables"]),
    ("Backups, blobs and copies of rows", ["Sources/CipherDB/Backup", "Sources/CipherBackup", "Sources/CipherSalvage"]),
    ("Functions and full-text search", ["Sources/CipherDB/Functions", "Sources/CipherDB/FullText"]),
    ("The command: advice after an error or an inspection", ["Sources/rekey/Presentation/Answer", "Sources/rekey/Commands/Inspect"]),
    ("The command: arguments, prompts and notes", ["Sources/rekey"]),
    ("Statements", ["Sources/CipherDB"]),
]
# Calls whose string argument is a message.
CALLS = re.compile(
    r"(?:DatabaseError\(\s*[^\"()]*?,\s*|ValidationError\(\s*|\.prompt\(\s*|prompt: |reason:\s*|nothingToDo\(\s*"
    r"|Output\.tell\(\s*|CorruptRow\w*\(\s*|advice\.append\(\s*|\(\"(?:note|advice)\", )(?=\"|\(\")"
)


def interpolation(text, i):
    """The end of `\\(…)` whose parenthesis is at i, and what stands for it: its longest alternative, or `…`."""
    start, depth, found = i, 0, []
    while True:
        if text[i] == '"':
            literal, i = string(text, i)
            found.append(literal)
            continue
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
        if depth == 0:
            break
    code = text[start:i]
    longest = max(found, key=len, default="")
    return i, longest if "separator:" not in code and re.search(r"[^?]\? |\.map \{", code) and longest else "…"


def string(text, i):
    """The literal whose quote is at i, with `…` in place of interpolations, and its end."""
    raw = i > 0 and text[i - 1] == "#"
    multiline = text.startswith('"""', i)
    end = ('"""' if multiline else '"') + ("#" if raw else "")
    i += 3 if multiline else 1
    out = ""
    while not text.startswith(end, i):
        if text[i] == "\\" and not raw:
            if text[i + 1] == "(":
                i, part = interpolation(text, i + 1)
                out += part
            else:
                out += {"n": " ", "\n": ""}.get(text[i + 1], text[i + 1])
                i += 2
        else:
            out += text[i]
            i += 1
    return out, i + len(end)


def term(text, i):
    """The alternatives of the term of a sum at i, and its end."""
    if text[i] == "#":
        i += 1
    if text[i] == '"':
        literal, end = string(text, i)
        return [literal], end
    depth, found = 0, []
    grouped = text[i] == "("
    while i < len(text):
        if text[i] == '"':
            alternative = text[:i].rstrip().endswith(("?", ":", "{"))
            literal, i = string(text, i)
            if alternative:
                found.append(literal)
            continue
        if depth == 0 and (text[i] in ",)\n" or text.startswith(" + ", i)):
            break
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
        if grouped and depth == 0:
            break
    return (found or ["…"]) if grouped else ["…"], i


def message(text, i):
    """The messages that begin with the term at i, and their end."""
    terms, end = [], i
    while True:
        alternatives, end = term(text, end)
        terms.append(alternatives)
        more = re.compile(r"\s*\+ ").match(text, end)
        if not more:
            break
        end = more.end()
    return ["".join(parts) for parts in itertools.islice(itertools.product(*terms), 4)], end


def messages(path, literals):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(?m)^\s*//.*$", "", text)
    begin, ending = ENDS.get(path, (None, ""))
    end = text.index(begin) if begin else len(text)
    found, i = [], text.index(BEGINS[path]) if path in BEGINS else 0
    while True:
        # A sum may begin with what is no literal.
        start = re.compile(r"(?<=\n)\s*[a-z]\w* \+ (?=#?\")|#?\"|\((?=\w[\w.]* ?\? \")").search(text, i) if literals else CALLS.search(text, i)
        if not start:
            break
        first = start.end() if not literals else start.start() + len(start.group()) - len(start.group().lstrip())
        made, i = message(text, first)
        compared = text[:first].rstrip().endswith(("==", "case", "hasPrefix(", "(with:", "contains(", "replacing("))
        for one in made:
            one = " ".join(one.split()).replace("……", "…")
            if first > end and " " in one and not one.startswith(ending.split(" …")[0]):
                one = ending + one
            if one == ending + "…":
                continue
            if not compared and " " in one and len(re.findall(r"[A-Za-z]{2,}", one)) >= 2 and one not in found:
                found.append(one)
        i = max(i, start.end())
    return found


def document():
    whole = {os.path.relpath(path, ROOT) for pattern in DESCRIPTIONS for path in glob.glob(os.path.join(ROOT, pattern))}
    others = {
        os.path.relpath(path, ROOT) for top in ("Keys", "Sources")
        for path in glob.glob(os.path.join(ROOT, top, "**/*.swift"), recursive=True)
    }
    of_subject = {heading: [] for heading, _ in SUBJECTS}
    for path in sorted(whole) + sorted(others - whole):
        found = messages(path, path in whole)
        if found:
            heading = next((heading for heading, starts in SUBJECTS if path.startswith(tuple(starts))), None)
            if heading is None:
                sys.exit("messages: %s has messages and no subject; see SUBJECTS" % path)
            of_subject[heading] += [one for one in found if one not in of_subject[heading]]
    return HEAD + "".join(
        "\n## %s\n\n%s" % (heading, "".join("* %s\n" % one for one in found)) for heading, found in of_subject.items() if found
    )


def main():
    made = document()
    if "--check" in sys.argv:
        with open(DOCUMENT, encoding="utf-8") as file:
            if file.read() != made:
                sys.exit("messages: Documentation/Messages.md is old; run Scripts/messages.py")
    else:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(made)


if __name__ == "__main__":
    main()
