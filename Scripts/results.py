#!/usr/bin/env python3
"""Says how many tests ran in each run of Scripts/test.sh, which were skipped and why, and which engines are missing.

usage: Scripts/results.py DIRECTORY

A run without results, or in which no test ran, fails it.
"""
import glob, os, sys
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


def main(directory):
    sums, empty = [0, 0, 0], []
    for log in sorted(glob.glob(os.path.join(directory, "*.log"))):
        name = os.path.basename(log)[:-len(".log")]
        # Swift Testing puts its own name into that of the file.
        paths = glob.glob(os.path.join(directory, name + "*.xml"))
        try:
            passed, failed, skipped = read(max(paths, key=os.path.getsize))
        except (OSError, ValueError, xml.ParseError) as error:
            print("%s: no results: %s" % (name, error))
            empty.append(name)
            continue
        count = sum(map(len, skipped.values()))
        print("%s: %d passed, %d failed, %d skipped" % (name, passed, failed, count))
        sums = [sums[0] + passed, sums[1] + failed, sums[2] + count]
        if passed + failed == 0:
            empty.append(name)
        for reason, names in sorted(skipped.items()):
            more = "" if len(names) <= NAMES else " and %d more" % (len(names) - NAMES)
            print("    %d skipped, %s: %s%s" % (len(names), reason, ", ".join(sorted(names)[:NAMES]), more))
    missing = os.path.join(ROOT, ".engines", "missing")
    if os.path.exists(missing):
        for line in open(missing):
            print("not tried: " + line.rstrip())
    print("%d passed, %d failed, %d skipped" % tuple(sums))
    if empty or not sums[0]:
        sys.exit("results: no test ran: " + ", ".join(empty))


main(sys.argv[1])
