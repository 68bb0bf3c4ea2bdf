#!/usr/bin/env python3
"""Writes the tables of Documentation/Performance.md from the figures that bench.sh left in .build-bench/bench.json.

usage: Benchmarks/table.py
"""
import json, os, re, statistics

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "Documentation/Performance.md")
FIGURES = os.path.join(ROOT, ".build-bench/bench.json")
BEGIN, END = "<!-- made by Benchmarks/table.py: %s -->\n", "<!-- end of the table -->\n"
# What every workload of sizes has; the sides behind these are other libraries.
OWN = ["raw C", "typed", "FMDBCompat"]
# Documentation/Performance.svg has all workloads; the document has these.
SHOWN = ("bulk insert", "scan, ", "rows into a type", "point reads in one transaction, ", "a query that reads no page", "2 readers",
         "64 writers", "a connection opened")
SHOWN_SIZES = ("1 MiB", "4096 MiB")


def time(seconds):
    """Such as `230 ns` or `1.2 ms`, with two or three digits."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            figure = seconds / size
            return "%s %s" % ("%.0f" % figure if figure >= 20 else "%.1f" % figure, unit)


def table(head, rows):
    return "".join("| %s |\n" % " | ".join(row) for row in [head, ["---"] * len(head), *rows]).replace("| --- ", "|---").replace(" --- |", "---|")


def ratio(side, name=""):
    goal = " (%s)" % side["goal"].replace("at most", "≤").replace("at least", "≥") if side.get("goal") else ""
    return "%s%.2f%s" % (name + " " if name else "", side["ratio"], goal)


def over_first(workloads, peers):
    """A row for each workload: the first side's time, and the others over it, other libraries in columns of their own."""
    rows = []
    for workload in workloads:
        first, *others = workload["sides"]
        each = "%s per %s" % (time(statistics.median(first["seconds"]) / workload["count"]), workload["unit"])
        own = ", ".join(ratio(side, side["name"]) for side in others if side["name"] not in peers)
        named = {side["name"]: ratio(side) for side in others}
        rows.append([workload["workload"], each if first["name"].startswith("raw C") else "%s: %s" % (first["name"], each), own]
                    + [named.get(peer, "") for peer in peers])
    return table(["workload", "C", "over it: CipherDB", *peers], rows)


def singles(workloads, peers):
    names = OWN + peers
    rows = []
    for workload in workloads:
        sides = {side["name"]: "%s, %s" % (time(side["p50"]), time(side["p99"])) for side in workload["sides"]}
        rows.append([workload["workload"]] + [sides.get(name, "") for name in names])
    return table(["p50, p99", "C", "CipherDB", *names[2:]], rows)


def with_other_sizes(made, present):
    """The table, and the rows of sizes that this run did not measure, where the contenders are the same."""
    head, *rows = made.splitlines(keepends=True)
    if not present.startswith(head):
        return made
    size = lambda row: int(row.split()[1])
    measured = {size(row) for row in rows[1:]}
    kept = [row for row in present.splitlines(keepends=True)[2:] if size(row) not in measured]
    return head + rows[0] + "".join(sorted(rows[1:] + kept, key=size))


def main():
    with open(FIGURES) as file:
        workloads = json.load(file)
    sizes = [one for one in workloads if re.match(r"\d+ MiB", one["workload"])]
    single = [one for one in workloads if "p50" in one["sides"][0] and "cache of 2 MB" not in one["workload"]]
    work = [one for one in workloads if "p50" not in one["sides"][0] and one["workload"].startswith(SHOWN)]
    peers = [side["name"] for side in sizes[0]["sides"] if side["name"] not in OWN]
    sizes = [one for one in sizes if one["workload"].startswith(SHOWN_SIZES)]
    tables = {"sizes": over_first(sizes, peers)}
    if work:
        tables |= {"work": over_first(work, peers), "single operations": singles(single, peers)}
    with open(DOCUMENT) as file:
        text = file.read()
    for name, made in tables.items():
        begin = BEGIN % name
        place = re.compile(re.escape(begin) + "(.*?)" + re.escape(END), flags=re.S)
        present = place.search(text)
        if not present:
            raise SystemExit("table: there is no place for %s in Documentation/Performance.md" % name)
        if name == "sizes":
            made = with_other_sizes(made, present[1])
        text = place.sub(lambda _: begin + made + END, text)
    with open(DOCUMENT, "w") as file:
        file.write(text)


main()
