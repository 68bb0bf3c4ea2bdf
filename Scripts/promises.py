#!/usr/bin/env python3
"""Writes Documentation/Promises.md: what SECURITY.md promises, and on which engines the tests of it passed.

usage: Scripts/promises.py [--check]

The results are those that Scripts/test.sh left in .build-test/results. Tests that have no engine count for each. A promise that a
test broke, or that no run tried, is an error; with --check so is a table that is not the one in the repository.
"""
import glob, os, re, sys
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, ".build-test/results")
TABLE = os.path.join(ROOT, "Documentation/Promises.md")
TEST = re.compile(r"`(\w+)\(\)`")
# What Tests/TestSupport/Extent.swift gives as the reason.
ELSEWHERE = "independent of the engine"
HEAD = """# Promises and engines

Made by `Scripts/promises.py` from a run of `make test`; do not edit. Each row is a promise of [SECURITY.md](../SECURITY.md), where its
tests are named, with how many there are. The tests run in rollback mode and with a write-ahead log, where that matters. "held by 1 of 2":
only so many of the tests ran on this engine; "on the newest": all that apply are independent of the engine, and ran on the newest only.

"""


def promises():
    """(heading, promise, names of its tests), in the order of the document."""
    found, heading = [], ""
    with open(os.path.join(ROOT, "SECURITY.md")) as file:
        document = file.read()
    for block in re.split(r"\n(?=\* |#|\n)", document):
        if block.startswith("#"):
            heading = block.strip("# \n")
        text = " ".join(block.removeprefix("* ").split())
        start = 0
        # The tests that stand together prove what stands before them.
        for group in re.finditer(r"`\w+\(\)`(?:(?:,| and|, among them)? `\w+\(\)`)*", text):
            promise = text[start:group.start()].lstrip(".,;: ").rstrip(": ").replace("](Documentation/", "](")
            found.append((heading, promise, TEST.findall(group.group())))
            start = group.end()
    return found


def results(path):
    """What became of each test, by its name: several tests of one name must all have passed."""
    outcome = {}
    for case in xml.parse(path).iter("testcase"):
        skipped = case.find("skipped")
        if skipped is not None and (skipped.text or "").startswith(ELSEWHERE):
            continue
        name = case.get("name").split("(")[0]
        now = "failed" if case.find("failure") is not None or case.find("error") is not None else \
            "skipped" if skipped is not None else "passed"
        before = outcome.get(name, now)
        outcome[name] = "failed" if "failed" in (before, now) else "passed" if "passed" in (before, now) else "skipped"
    return outcome


def main():
    runs = {}
    without = results(os.path.join(RESULTS, "without-an-engine.xml"))
    for path in glob.glob(os.path.join(RESULTS, "[0-9]*.xml")):
        # What ran again passed, or there is no table.
        if path.endswith(".again.xml"):
            continue
        runs[os.path.basename(path).removesuffix(".xml")] = results(path)
    if not runs:
        sys.exit("promises: no results; run make test")
    runs = dict(sorted(runs.items(), key=lambda run: [int(part) for part in run[0].split(".")]))
    newest = list(runs.values())[-1]
    elsewhere = {test: "elsewhere" if outcome == "passed" else outcome for test, outcome in newest.items()}
    runs = {name: elsewhere | without | run for name, run in runs.items()}
    broken, lines, last = [], [HEAD], None
    for heading, promise, tests in promises():
        if heading != last:
            last = heading
            lines.append("\n## %s\n\n| promise | tests | %s |\n|---|---|%s\n"
                         % (heading, " | ".join("SQLCipher " + name for name in runs), "---|" * len(runs)))
        cells = []
        for name, outcome in runs.items():
            found = [outcome.get(test, "missing") for test in tests]
            held = found.count("passed")
            cell = "BROKEN" if "failed" in found else "not tried" if "missing" in found else \
                "held" if held == len(found) else "held by %d of %d" % (held, len(found)) if held else \
                "on the newest" if "elsewhere" in found else "does not apply"
            if cell in ("BROKEN", "not tried"):
                broken.append("%s: %s, on %s" % (cell, promise, name))
            cells.append(cell)
        lines.append("| %s | %d | %s |\n" % (promise.replace("|", "\\|"), len(tests), " | ".join(cells)))
    text = "".join(lines).replace("\n\n\n", "\n\n")
    before = open(TABLE).read() if os.path.exists(TABLE) else ""
    if text != before:
        with open(TABLE, "w") as file:
            file.write(text)
    print("promises: %d on %s, %d broken or not tried" % (len(promises()), ", ".join(runs), len(broken)))
    if broken:
        sys.exit("\n".join(broken))
    if "--check" in sys.argv[1:] and text != before:
        sys.exit("promises: Documentation/Promises.md was not the table of this run; commit the new one")


main()
