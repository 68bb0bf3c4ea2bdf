#!/usr/bin/env python3
"""Writes every public type with its members, from symbol graphs, to Documentation/API.md.

usage: Scripts/api.py [--check] GRAPH…

--check: fails, and writes nothing, where the document is another than it would be.
"""
import glob, json, os, re, sys

DOCUMENT = "Documentation/API.md"
KINDS = {"swift.class": "class", "swift.struct": "structure", "swift.enum": "enumeration", "swift.protocol": "protocol"}
# What protocols of Swift ask for says nothing about a type.
OF_PROTOCOLS = {"description", "debugDescription", "customMirror", "errorDescription", "hash(into:)", "rawValue", "init(rawValue:)"}
MODULES = [
    ("CipherDB", "CipherDB", "The library. `import CipherDB` brings it and the keys."),
    ("CipherKeys", "Keys", "Keys, keyrings and their sources."),
    ("Rekeying", "Rekeying", "Operations on whole files, as the command `rekey` does them."),
]


def declared_here(symbol):
    place = symbol.get("location", {}).get("uri", "")
    return "/Sources/" in place or "/Keys/" in place


def module_of(symbol):
    place = symbol["location"]["uri"]
    if "/Keys/" in place:
        return "CipherKeys"
    module = place.split("/Sources/")[1].split("/")[0]
    return {"SQLiteFormat": "Rekeying", "CipherSalvage": "Rekeying"}.get(module, module)


def first_sentence(symbol):
    lines = [line["text"].strip() for line in symbol.get("docComment", {}).get("lines", [])]
    text = " ".join(lines[: lines.index("") if "" in lines else len(lines)]).replace("``", "`")
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def is_unavailable(symbol):
    return any(item.get("isUnconditionallyUnavailable") for item in symbol.get("availability", []))


def of_traits():
    """What the sources declare where a package trait is enabled: no graph has it."""
    found = []
    for path in sorted(glob.glob("Sources/CipherDB/**/*.swift", recursive=True) + glob.glob("Sources/Rekeying/**/*.swift", recursive=True)):
        with open(path) as file:
            for trait, block in re.findall(r"^ *#if (\w+)\n(.*?)^ *#endif", file.read(), re.DOTALL | re.MULTILINE):
                owner = os.path.basename(path).removesuffix(".swift")
                found += ["`%s`: `%s.%s`" % (trait, owner, name) for name in re.findall(r"^ *public var (\w+)", block, re.MULTILINE)]
                found += ["`%s`: `%s` is a `%s`" % (trait, *names)
                          for names in re.findall(r"^ *extension (\w+): (\w+)", block, re.MULTILINE)]
    return found


def main(arguments):
    check = "--check" in arguments
    types, members, extended = {}, {}, {}
    for path in sorted(name for name in arguments if name != "--check"):
        if "FMDBCompat" in os.path.basename(path):
            continue
        with open(path) as file:
            for symbol in json.load(file)["symbols"]:
                if not declared_here(symbol) or is_unavailable(symbol):
                    continue
                path_of = ".".join(symbol["pathComponents"])
                if symbol["kind"]["identifier"] in KINDS:
                    types[path_of] = symbol
                elif symbol["pathComponents"][-1] not in OF_PROTOCOLS:
                    owner = ".".join(symbol["pathComponents"][:-1])
                    members.setdefault(owner, {})[symbol["pathComponents"][-1]] = symbol
    lines = [
        "# The public surface",
        "",
        "Every public type with its members, made by `Scripts/api.py` from the code. A call that may block has a synchronous and an asynchronous",
        "version under one name. FMDBCompat has FMDB's names: [FMDB.md](FMDB.md).",
    ]
    for module, title, about in MODULES:
        own = sorted(name for name in types if module_of(types[name]) == module)
        lines += ["", "## " + title, "", about, ""]
        for name in own:
            symbol = types[name]
            lines.append("**`%s`**, %s: %s" % (name, KINDS[symbol["kind"]["identifier"]], first_sentence(symbol)))
            names = sorted(members.pop(name, {}), key=lambda member: (not member[0].isalpha(), member.lower()))
            if names:
                lines.append("  " + " ".join("`%s`" % member for member in names))
            lines.append("")
        lines.pop()
    rest = {owner: names for owner, names in members.items() if owner not in types}
    if rest:
        lines += ["", "## On types of Swift and Foundation", ""]
        for owner in sorted(rest):
            names = " ".join("`%s`" % name for name in sorted(rest[owner]))
            lines.append("**`%s`** %s" % (owner, names) if owner else names)
            lines.append("")
        lines.pop()
    lines += ["", "## With package traits", "", *("* " + line for line in of_traits())]
    text = "\n".join(lines) + "\n"
    if check:
        with open(DOCUMENT) as file:
            if file.read() != text:
                sys.exit("api: %s is not of this code: run make docs" % DOCUMENT)
        return
    with open(DOCUMENT, "w") as file:
        file.write(text)


main(sys.argv[1:])
