#!/usr/bin/env python3
"""Where the instructions of the library's hot paths go, by valgrind --tool=callgrind: the cryptography, the engine, and the wrapper.

usage: Benchmarks/profile.py [--rows N]

Runs one side of the benchmark of `make bench` under valgrind, counting inside of its turns only, and adds up the instructions by the
library that they are in. A row of the table is a piece of work, its figures are instructions for a row or query.
"""
import argparse, collections, os, re, subprocess, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCH = os.path.join(ROOT, ".build-bench/library/release/Bench")
# Connections that the topic opening makes, whatever the rows.
OPENINGS = 200
# The topic of the benchmark, its workload and side, and how many pieces of work it does of N rows.
PLACES = [
    ("insert", "bulk insert", "raw C", 1),
    ("insert", "bulk insert", "typed", 1),
    ("insert", "bulk insert", "many rows in one call", 1),
    ("insert", "bulk insert", "FMDB-style", 1),
    ("insert", "bulk insert", "FMDBCompat", 1),
    ("scan", "scan, 4 columns into values", "raw C", 1),
    ("scan", "scan, 4 columns into values", "typed", 1),
    ("borrow", "scan, borrowing", "raw C", 1),
    ("borrow", "scan, borrowing", "typed", 1),
    ("decode", "rows into a type of 4 columns, over GRDB's Codable", "by hand", 1),
    ("decode", "rows into a type of 4 columns, over GRDB's Codable", "Codable", 1),
    ("small", "a query that reads no page", "raw C", 1),
    ("small", "a query that reads no page", "prepared", 1),
    ("small", "a query that reads no page", "by SQL", 1),
    ("small", "a query that reads no page", "FMDBCompat", 1),
    ("points", "point reads in one transaction", "raw C", 0.25),
    ("points", "point reads in one transaction", "typed", 0.25),
    ("opening", "a connection opened with a raw key, and closed", "raw C", None),
    ("opening", "a connection opened with a raw key, and closed", "Database", None),
]
# The function that is a turn of a side, see Turns.Work.
TURN = "benchmarkTurn"
PARTS = [("cryptography", r"libcrypto|libIPSec_MB"), ("engine", r"libsqlcipher"), ("wrapper, Swift, C library", r"")]


def turn(program):
    """The mangled name of the function that is a turn."""
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(line.split()[-1] for line in lines if TURN in line)


def count(path):
    """Instructions by part, of what a file of callgrind's tells."""
    names, found, skip, part = {}, collections.Counter(), False, None
    for line in open(path):
        object_ = re.match(r"ob=\((\d+)\)(?: (.*))?", line)
        if object_:
            if object_[2]:
                names[object_[1]] = object_[2]
            part = next(name for name, pattern in PARTS if re.search(pattern, names.get(object_[1], "")))
        elif re.match(r"cob=\((\d+)\) ", line):
            called = re.match(r"cob=\((\d+)\) (.*)", line)
            names[called[1]] = called[2]
        elif line.startswith("calls="):
            skip = True
        elif re.match(r"[+\-*\d]", line):
            # The line behind calls= is what the callee took.
            if not skip:
                found[part] += int(line.split()[1])
            skip = False
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=20_000)
    rows = options.parse_args().rows
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        program = os.path.join(directory, "Bench")
        # valgrind cannot read the newest debugging information.
        subprocess.run(["strip", "-g", "-o", program, BENCH], check=True)
        out = os.path.join(directory, "out")
        valgrind = "valgrind -q --tool=callgrind --collect-atstart=no --toggle-collect=%s --callgrind-out-file=%s" % (turn(program), out)
        print("| workload | side | " + " | ".join(name for name, _ in PARTS) + " | all |")
        print("|---" * (len(PARTS) + 3) + "|")
        for topic, workload, side, share in PLACES:
            subprocess.run([os.path.join(ROOT, "Scripts/with-engine.sh"), "4.6.1", program, "--directory", directory,
                            "--rows", str(rows), "--rounds", "1", "--topic", topic, "--workload", workload, "--side", side,
                            "--under", valgrind], check=True, stdout=subprocess.DEVNULL)
            found = count(out)
            # The turn that warms is counted, too.
            pieces = 2 * (rows * share if share else OPENINGS)
            cells = ["%.0f" % (found[part] / pieces) for part, _ in PARTS] + ["%.0f" % (sum(found.values()) / pieces)]
            print("| %s | %s | %s |" % (workload, side, " | ".join(cells)), flush=True)
            os.unlink(out)


main()
