#!/usr/bin/env python3
"""Says which engines Scripts/test.sh tried, how many tests ran on each, which were skipped and why, and which engines are missing.

usage: Scripts/results.py FOLDER RUN...

A run without results, or in which no test ran, fails it. Where only some tests of a run were repeated, NAME.again.xml has them,
NAME.xml those of the last whole run, and NAME.date when that was.
"""
import os, sys
import xml.etree.ElementTree as xml
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# So many names are told for each reason.
NAMES = 3


def read(path):
    """How many tests passed and failed, and the names of those that were skipped, by the reason."""
    passed, failed, skipped = 0, 0, defaultdict(list)
    for case in xml.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped[case.find("skipped").text or "no reason was given"].append(case.get("name").split("(")[0])
        else:
            passed += 1
    return passed, failed, skipped


def main(directory, runs):
    sums, empty = [0, 0, 0], []
    for name in runs:
        date, again = os.path.join(directory, name + ".date"), os.path.join(directory, name + ".again.xml")
        try:
            seconds = open(os.path.join(directory, name + ".status")).read().split()[1]
            passed, failed, skipped = read(os.path.join(directory, name + ".xml"))
            repeated = read(again) if os.path.exists(date) else None
        except (OSError, IndexError, xml.ParseError) as error:
            print("%s: no results: %s" % (name, error))
            empty.append(name)
            continue
        count = sum(map(len, skipped.values()))
        title = name.replace("-", " ") if not name[0].isdigit() else "SQLCipher " + name
        when = "in %s s" % seconds
        if repeated:
            when = "on %s; nothing has changed" % open(date).read().strip()
        print("%s: %d passed, %d failed, %d skipped, %s" % (title, passed, failed, count, when))
        if repeated:
            print("    %d of them, which chance or timing takes part in, ran again: %d failed, in %s s; AGAIN=1 runs all"
                  % (repeated[0] + repeated[1], repeated[1], seconds))
            failed += repeated[1]
        sums = [sums[0] + passed, sums[1] + failed, sums[2] + count]
        if passed + failed == 0 or repeated and repeated[0] + repeated[1] == 0:
            empty.append(name)
        for reason, names in sorted(skipped.items()):
            more = "" if len(names) <= NAMES else " and %d more" % (len(names) - NAMES)
            print("    %d skipped, %s: %s%s" % (len(names), reason, ", ".join(sorted(names)[:NAMES]), more))
    missing = os.path.join(ROOT, ".engines", "missing")
    if os.path.exists(missing):
        for line in open(missing):
            print("not tried: " + line.rstrip())
    print("%d passed, %d failed, %d skipped" % tuple(sums))
    if empty:
        sys.exit("results: no test ran: " + ", ".join(empty))


main(sys.argv[1], sys.argv[2:])
