#!/usr/bin/env python3
"""Writes Documentation/Messages.md: every message that the library and the command show, by the file that has it.

Messages are the strings of the errors' descriptions, of DatabaseError, ValidationError and prompts. `…` stands for a part that
is filled in. With --check the document must be the one that would be written.
"""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "Documentation/Messages.md")
HEAD = """# Messages

Every message that a user can see, made from the code by `Scripts/messages.py`; do not edit. `…` is a part that is filled in, such as a path.
[Errors and what to do](../Sources/CipherDB/CipherDB.docc/ErrorsAndWhatToDo.md) explains the causes, `rekey help exit-status` the statuses.
"""
# Files of which each string is a message or a part of one.
DESCRIPTIONS = [
    "Keys/*Error.swift", "Keys/Malformed*.swift", "Keys/Unusable*.swift", "Keys/Keyring/*Error.swift", "Sources/*/Errors/*.swift",
    "Sources/CipherDB/Migrations/Migration.swift", "Sources/rekey/Presentation/Advice.swift", "Sources/rekey/Help/Suggestion.swift",
]
# Calls whose string argument is a message.
CALLS = re.compile(
    r"(?:DatabaseError\(\s*[^\"()]*?,\s*|ValidationError\(\s*|\.prompt\(\s*|prompt: |notStarted\(\s*|notNeeded\(\s*|nothingToDo\(\s*"
    r"|Output\.tell\(\s*|CorruptRow\w*\(\s*|\(\"(?:note|advice)\", )\"((?:[^\"\\]|\\.|\\\((?:[^()]|\([^()]*\))*\))*)\"",
)
LITERAL = re.compile(r"\"((?:[^\"\\]|\\\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\")*\))*\)|\\.)*)\"")


def plain(text):
    """With `…` in place of interpolations."""
    out, depth, i = "", 0, 0
    while i < len(text):
        if depth == 0 and text.startswith("\\\\", i):
            out, i = out + "\\", i + 2
            continue
        if depth == 0 and text.startswith("\\(", i):
            depth, i = 1, i + 2
            out += "…"
            continue
        if depth:
            depth += {"(": 1, ")": -1}.get(text[i], 0)
        else:
            out += text[i]
        i += 1
    return " ".join(out.replace("\\n", " ").replace("\\\"", "\"").split())


def messages(path, literals):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(?m)^\s*//.*$", "", text)
    # Strings that are broken into several.
    text = re.sub(r"\"\s*\n\s*\+ \"", "", text)
    found = []
    for match in (LITERAL if literals else CALLS).finditer(text):
        message = plain(match.group(1))
        if len(re.findall(r"[A-Za-z]{2,}", message)) >= 2 and message not in found:
            found.append(message)
    return found


def document():
    whole = sorted({os.path.relpath(path, ROOT) for pattern in DESCRIPTIONS for path in glob.glob(os.path.join(ROOT, pattern))})
    others = sorted(
        os.path.relpath(path, ROOT) for top in ("Keys", "Sources")
        for path in glob.glob(os.path.join(ROOT, top, "**/*.swift"), recursive=True)
    )
    lines = [HEAD]
    for path in whole + [path for path in others if path not in whole]:
        found = messages(path, path in whole)
        if found:
            lines.append("\n## %s\n\n" % os.path.basename(path).removesuffix(".swift"))
            lines += ["* %s\n" % message for message in found]
    return "".join(lines)


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
