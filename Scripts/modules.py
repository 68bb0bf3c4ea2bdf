#!/usr/bin/env python3
"""Draws the modules of Package.swift into Documentation/DESIGN.md, as a Mermaid picture.

usage: Scripts/modules.py [--check]

With --check a picture that is not that of Package.swift is an error, and nothing is written.
"""
import json, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "Documentation/DESIGN.md")
BLOCK = re.compile(r"```mermaid\n.*?```", re.DOTALL)


def picture():
    package = json.loads(subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, check=True).stdout)
    targets = {target["name"]: [list(dependency.values())[0][0] for dependency in target["dependencies"]
                                if "byName" in dependency or "target" in dependency]
               for target in package["targets"] if target["type"] in ("regular", "executable", "system")
               and not (target.get("path") or "").startswith(("Tests", "Examples"))}
    lines = ["graph BT"]
    for name, dependencies in sorted(targets.items()):
        # An arrow to what another dependency brings along says nothing.
        direct = [each for each in dependencies if each in targets and not any(
            each in reachable(targets, other) for other in dependencies if other in targets and other != each)]
        lines += ["    %s --> %s" % (name, each) for each in sorted(direct)] or ["    %s" % name]
    return "```mermaid\n%s\n```" % "\n".join(lines)


def reachable(targets, name):
    found = set()
    for each in targets.get(name, []):
        found |= {each} | reachable(targets, each)
    return found


def main():
    with open(DOCUMENT) as file:
        text = file.read()
    if not BLOCK.search(text):
        sys.exit("modules: Documentation/DESIGN.md has no Mermaid picture")
    new = BLOCK.sub(lambda _: picture(), text, count=1)
    if new == text:
        return
    if "--check" in sys.argv[1:]:
        sys.exit("modules: the picture in Documentation/DESIGN.md is not that of Package.swift; run Scripts/modules.py")
    with open(DOCUMENT, "w") as file:
        file.write(new)


main()
