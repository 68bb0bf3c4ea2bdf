#!/usr/bin/env python3
"""Says which engines Scripts/test.sh tried, how many tests ran on each, which were skipped and why, and which engines are missing.

usage: Scripts/results.py FOLDER RUN...

A run without results, or in which no test ran, fails it.
"""
import os, sys
import xml.etree.ElementTree as xml
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# So many names are told for each reason.
NAMES = 3


def main(folder, runs):
    sums, empty = [0, 0, 0], []
    for name in runs:
        passed, failed, skipped = 0, 0, defaultdict(list)
        try:
            seconds = open(os.path.join(folder, name + ".status")).read().split()[1]
            cases = list(xml.parse(os.path.join(folder, name + ".xml")).iter("testcase"))
        except (OSError, IndexError, xml.ParseError) as error:
            print("%s: no results: %s" % (name, error))
            empty.append(name)
            continue
        for case in cases:
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            elif case.find("skipped") is not None:
                skipped[case.find("skipped").text or "no reason was given"].append(case.get("name").split("(")[0])
            else:
                passed += 1
        count = sum(map(len, skipped.values()))
        sums = [sums[0] + passed, sums[1] + failed, sums[2] + count]
        if passed + failed == 0:
            empty.append(name)
        title = name.replace("-", " ") if not name[0].isdigit() else "SQLCipher " + name
        print("%s: %d passed, %d failed, %d skipped, in %s s" % (title, passed, failed, count, seconds))
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
