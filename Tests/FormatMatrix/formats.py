#!/usr/bin/env python3
"""Takes every file of the matrix through `rekey` on each engine with format 4, and says how many steps were done and refused.

usage: Tests/FormatMatrix/formats.py [--engine VERSION]… [REKEY]

REKEY is the command as it was built, .build-test/release/rekey unless named. A step that failed, or had another outcome on another
engine, is an error.
"""
import argparse, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MATRIX = os.path.join(HERE, "matrix.py")
sys.dont_write_bytecode = True
from passage import DONE, REFUSED  # noqa: E402


def run(command, version):
    """What came of each cell on an engine."""
    libraries = subprocess.run([os.path.join(ROOT, "Scripts/with-engine.sh"), "--libraries", version], check=True, capture_output=True, text=True)
    environment = os.environ | {"LD_LIBRARY_PATH": libraries.stdout.strip()}
    with tempfile.TemporaryDirectory() as directory:
        results = os.path.join(directory, "results.json")
        subprocess.run([MATRIX, "write", directory], check=True)
        done = subprocess.run([MATRIX, "through", os.path.join(directory, "manifest.json"), "--rekey", command, "--results", results],
                              env=environment)
        if done.returncode:
            sys.exit("formats: failures on SQLCipher %s" % version)
        with open(results) as file:
            return sorted(json.load(file), key=lambda result: result["cell"]["file"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("rekey", nargs="?", default=os.path.join(ROOT, ".build-test/release/rekey"))
    parser.add_argument("--engine", action="append")
    options = parser.parse_args()
    command = os.path.abspath(options.rekey)
    engines = sorted((name for name in os.listdir(os.path.join(ROOT, ".engines"))
                      if name.startswith("4.") and name in (options.engine or [name])), key=lambda name: [int(part) for part in name.split(".")])
    if not engines:
        sys.exit("formats: no engines; run make engines")
    results = {version: run(command, version) for version in engines}
    first = results[engines[0]]
    for version in engines[1:]:
        for one, other in zip(first, results[version]):
            if one["steps"] != other["steps"]:
                sys.exit("formats: %s on %s: %s, on %s: %s"
                         % (one["cell"]["name"], engines[0], one["steps"], version, other["steps"]))
    print("formats: %d files, %d steps done, %d refused, on each of %s" % (
        len(first), sum(outcome == DONE for result in first for outcome in result["steps"].values()),
        sum(outcome == REFUSED for result in first for outcome in result["steps"].values()), ", ".join(engines)))


main()
