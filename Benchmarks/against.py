#!/usr/bin/env python3
"""Compares the library's benchmark with that of another commit, by turns.

usage: Benchmarks/against.py COMMIT [--turns N] [--rows N] [--topic NAME]      (make bench AGAINST=COMMIT)

Both are built with the engine 4.6.1, or ENGINE, of `make engines`. In each turn each program runs once, and each turn begins with the
other one. A line shows the median of the turns' ratios, this tree over the commit: of the times, and of the times over those of C in
the same run, which a machine that changes its speed disturbs less. "slower" marks a line that was slower in every turn by both.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENGINE = os.environ.get("ENGINE", "4.6.1")
PROGRAM = ".build-bench/library/release/Bench"


def build(tree):
    subprocess.run([os.path.join(tree, "Scripts/with-engine.sh"), ENGINE, "swift", "build", "-q", "-c", "release",
                    "--package-path", os.path.join(tree, "Benchmarks"), "--scratch-path", os.path.join(tree, ".build-bench/library")],
                   check=True)


def check_out(commit):
    """The directory with the files of the commit; what was built there stays."""
    name = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", commit], capture_output=True, text=True, check=True).stdout.strip()
    tree = os.path.join(ROOT, ".build-bench", "against", name)
    if not os.path.isdir(tree):
        os.makedirs(tree)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", name], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
        os.symlink(os.path.join(ROOT, ".engines"), os.path.join(tree, ".engines"))
    return tree


def run(tree, directory, options):
    """Seconds of each side, by the names of workload and side, and of C by that of the workload."""
    report = os.path.join(directory, "report.json")
    command = [os.path.join(ROOT, "Scripts/with-engine.sh"), ENGINE, os.path.join(tree, PROGRAM), "--rounds", "1",
               "--rows", str(options.rows), "--json", report]
    if options.topic:
        command += ["--topic", options.topic]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CIPHERDB_BENCH_")}
    environment["TMPDIR"] = directory
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    with open(report) as file:
        return {(workload["workload"], side["name"]): (side["seconds"][0], workload["sides"][0]["seconds"][0])
                for workload in json.load(file) for side in workload["sides"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--topic")
    options = parser.parse_args()
    there = check_out(options.commit)
    for tree in (there, ROOT):
        build(tree)
    turns = []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        for turn in range(options.turns):
            order = [there, ROOT] if turn % 2 == 0 else [ROOT, there]
            results = {tree: run(tree, directory, options) for tree in order}
            turns.append((results[there], results[ROOT]))
            print("turn %d of %d" % (turn + 1, options.turns), file=sys.stderr, flush=True)
    lines = [key for key in turns[0][1] if key in turns[0][0]]
    print("| workload | side | time | time over C | |\n|---|---|---|---|---|")
    for key in lines:
        times = [now[key][0] / before[key][0] for before, now in turns]
        over_c = [(now[key][0] / now[key][1]) / (before[key][0] / before[key][1]) for before, now in turns]
        is_slower = min(times) > 1.02 and min(over_c) > 1.02
        print("| %s | %s | %.2f | %.2f | %s |" % (*key, statistics.median(times), statistics.median(over_c),
                                                  "slower" if is_slower else ""))
    absent = sorted(set(turns[0][0]) ^ set(turns[0][1]))
    if absent:
        print("\nIn one of the two only: " + ", ".join("%s (%s)" % key for key in absent))


main()
