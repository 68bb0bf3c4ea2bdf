#!/usr/bin/env python3
"""Lists the public symbols without a comment in symbol graphs, and fails where there are any.

usage: Scripts/undocumented.py GRAPH…
"""
import json, os, sys

silent = set()
count = 0
for path in sys.argv[1:]:
    with open(path) as file:
        graph = json.load(file)
    for symbol in graph["symbols"]:
        # What the compiler makes by itself has no place, and what an extension inherits has one elsewhere.
        place = symbol.get("location", {}).get("uri", "")
        if "/Sources/" not in place and "/Keys/" not in place:
            continue
        count += 1
        if not any(line["text"].strip() for line in symbol.get("docComment", {}).get("lines", [])):
            silent.add("%s: %s" % (os.path.basename(place), ".".join(symbol["pathComponents"])))
for line in sorted(silent):
    print("undocumented:", line, file=sys.stderr)
print("docs: %d public symbols, %d without a comment" % (count, len(silent)))
sys.exit(bool(silent) or not count)
