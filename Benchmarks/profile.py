#!/usr/bin/env python3
"""Where the instructions of the library's hot paths go, by valgrind --tool=callgrind: the cryptography, the engine, and the wrapper.

usage: Benchmarks/profile.py [--rows N]

Runs the benchmark program of `make bench` under valgrind, counting inside of one side only, and adds up the instructions by the
library that they are in. A row of the table is a piece of work, its figures are instructions for a row or query.
"""
import argparse, collections, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCH = os.path.join(ROOT, ".build-bench/library/release/Bench")
# Connections that the topic opening makes, whatever the rows.
OPENINGS = 200
# The topic of the benchmark, its side, the function that the side is (a pattern of its demangled name), and how many pieces of work it does of N rows.
PLACES = [
    ("insert", "raw C", r"^raw_insert$", 1),
    ("insert", "typed", r"closure #1 .*in closure #6 .*Workload\.bulkInsert\(", 1),
    ("insert", "FMDB-style", r"closure #1 .*in closure #10 .*Workload\.bulkInsert\(", 1),
    ("scan", "raw C", r"^raw_scan_copying$", 1),
    ("scan", "typed", r"^closure #3 .*Workload\.scan\(", 1),
    ("points", "raw C", r"^raw_points$", 0.5),
    ("points", "typed", r"closure #1 .*in closure #3 .*Workload\.points\(", 0.25),
    ("opening", "raw C", r"^closure #1 .*Workload\.opening\(", None),
    ("opening", "typed", r"^closure #2 .*Workload\.opening\(", None),
]
PARTS = [("cryptography", r"libcrypto|libIPSec_MB"), ("engine", r"libsqlcipher"), ("wrapper, Swift, C library", r"")]


def symbols(program):
    """(mangled, demangled) of the program's functions."""
    mangled = [line.split()[-1] for line in
               subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()]
    plain = subprocess.run(["swift", "demangle", "--compact"], input="\n".join(mangled), capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return list(zip(mangled, plain))


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
        known = symbols(program)
        print("| workload | side | " + " | ".join(name for name, _ in PARTS) + " | all |")
        print("|---" * (len(PARTS) + 3) + "|")
        for workload, side, pattern, share in PLACES:
            name = next((mangled for mangled, plain in known if re.search(pattern, plain)
                         and "partial apply" not in plain and "thunk" not in plain), None)
            if not name:
                sys.exit("profile: no function %s" % pattern)
            out = os.path.join(directory, "out")
            environment = {key: value for key, value in os.environ.items() if key != "CIPHERDB_BENCH_GRDB"}
            subprocess.run([os.path.join(ROOT, "Scripts/with-engine.sh"), "4.6.1", "valgrind", "-q", "--tool=callgrind",
                            "--collect-atstart=no", "--toggle-collect=" + name, "--callgrind-out-file=" + out, program,
                            "--directory", directory, "--rows", str(rows), "--rounds", "1", "--topic", workload],
                           check=True, stdout=subprocess.DEVNULL, env=environment)
            found = count(out)
            # One round, and the one before it that warms.
            pieces = 2 * (rows * share if share else OPENINGS)
            cells = ["%.0f" % (found[part] / pieces) for part, _ in PARTS] + ["%.0f" % (sum(found.values()) / pieces)]
            print("| %s | %s | %s |" % (workload, side, " | ".join(cells)), flush=True)
            os.unlink(out)


main()
