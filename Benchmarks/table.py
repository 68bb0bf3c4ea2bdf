#!/usr/bin/env python3
"""Writes the table of Documentation/Performance.md from the figures that Scripts/bench.sh left in .build-bench/bench.json.

usage: Benchmarks/table.py
"""
import json, os, re, statistics

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "Documentation/Performance.md")
FIGURES = os.path.join(ROOT, ".build-bench/bench.json")
BEGIN, END = "<!-- made by Benchmarks/table.py -->\n", "<!-- end of the table -->\n"


def time(seconds):
    """Such as `230 ns` or `1.2 ms`, with two or three digits."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            figure = seconds / size
            return "%s %s" % ("%.0f" % figure if figure >= 20 else "%.1f" % figure, unit)


def main():
    with open(FIGURES) as file:
        workloads = json.load(file)
    lines = ["| workload | C | over C |\n|---|---|---|\n"]
    for workload in workloads:
        # Those have a section of their own.
        if workload["workload"].startswith("setting:"):
            continue
        first, *others = workload["sides"]
        each = statistics.median(first["seconds"]) / workload["count"]
        ratios = ", ".join("%s %.2f" % (side["name"], side["ratio"]) for side in others)
        lines.append("| %s | %s per %s | %s |\n" % (workload["workload"], time(each), workload["unit"], ratios))
    with open(DOCUMENT) as file:
        text = file.read()
    made = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + "".join(lines) + END, text, flags=re.S)
    if BEGIN not in text:
        raise SystemExit("table: there is no place for it in Documentation/Performance.md")
    with open(DOCUMENT, "w") as file:
        file.write(made)


main()
