#!/usr/bin/env python3
"""Writes files with each parameter that SQLCipher has, by other programs, and lets other programs read what CipherDB wrote.

usage: matrix.py list
       matrix.py write DIRECTORY [--share K/N] [--writer NAME]…
       matrix.py check MANIFEST [--reader NAME]…
       matrix.py through MANIFEST --rekey COMMAND [--share K/N] [--results FILE]
       matrix.py refuse DIRECTORY --rekey COMMAND [--pairs NUMBER] [--seed NUMBER]

`write` makes a file for each cell, and manifest.json: writer, key, parameters, and what the rows must answer. --share 1/3 takes the
second of each three cells. `check` opens the files of a manifest with each engine that has their parameters, in copies, and says
which gave another answer. `through` takes each file through `rekey`, whose results other engines read, and writes what came of it.
`refuse` writes files and opens them under random wrong keys and parameters; the error must name what was wrong.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import sys
import tempfile

import cells
from engines import ENGINES, QUERY, Failure, MultipleCiphers, Shell, answer, parse
from passage import DONE, REFUSED, Passage, limit
from refusals import choose, refuse

WORKERS = min(4, os.cpu_count() or 1)


def shells():
    return sorted((name for name in os.listdir(ENGINES) if name[0].isdigit()), key=lambda name: [int(part) for part in name.split(".")])


class Engines(dict):
    """By name, each made when it is first asked for."""

    def __missing__(self, name):
        self[name] = MultipleCiphers() if name == cells.MULTIPLE_CIPHERS else Shell(name)
        return self[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.values():
            each.close()


def described(cell, file):
    """A cell as it stands in the manifest."""
    return {"name": cell.name, "file": file, "writer": cell.writer, "content": cell.content, "parameters": cell.parameters.as_json(),
            "reserve": cell.parameters.reserve, "reserved": cell.reserved, "key_kind": cell.key_kind, "key": cell.key,
            "salt": cell.salt, "journal": cell.journal, "by_default": cell.by_default, "cipher": cell.cipher, "legacy": cell.legacy}


def in_parallel(work, items):
    """Each worker has a process of SQLite3 Multiple Ciphers of its own."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        parts = [pool.submit(work, items[start::WORKERS]) for start in range(WORKERS)]
        return [result for part in parts for result in part.result()]


def write(directory, chosen):
    os.makedirs(directory, exist_ok=True)
    manifest = [described(cell, "%03d.db" % index) for index, cell in enumerate(chosen)]

    def part(items):
        failures = []
        with Engines() as engines:
            for item in items:
                try:
                    engines[item["writer"]].write(parse(item), os.path.join(directory, item["file"]))
                except Failure as failure:
                    failures.append("%s: %s" % (item["name"], failure))
        return failures

    failures = in_parallel(part, manifest)
    with open(os.path.join(directory, "manifest.json"), "w") as file:
        json.dump({"query": QUERY, "answer": answer(), "cells": manifest}, file, indent=1)
    return manifest, failures


def shared(items, share):
    number, count = (int(part) for part in share.split("/"))
    return items[number::count]


def check(path, names):
    directory = os.path.dirname(os.path.abspath(path))
    with open(path) as file:
        manifest = json.load(file)

    def part(items):
        results = []
        with Engines() as engines, tempfile.TemporaryDirectory() as scratch:
            for item in items:
                cell = parse(item)
                # Only its writer has its cipher or layout.
                readers = [name for name in names if item["content"] == "opens" or name == item["writer"]]
                for name in readers:
                    if engines[name].can_read(cell):
                        results.append((item["name"], name, outcome(engines[name], cell, directory, scratch, manifest["answer"])))
        return results

    return in_parallel(part, manifest["cells"])


def outcome(reader, cell, directory, scratch, expected):
    """None, or how the answer differs."""
    copy = os.path.join(scratch, cell["file"])
    for side in ("", "-wal", "-journal"):
        source = os.path.join(directory, cell["file"] + side)
        if os.path.exists(source):
            shutil.copyfile(source, copy + side)
    try:
        said = reader.read(cell, copy)
        return None if said == [expected, "ok"] else "says " + " ".join(said)[:200]
    except Failure as failure:
        return str(failure)
    finally:
        for side in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(copy + side):
                os.remove(copy + side)


def through(path, command, share):
    """(cell, its limit or None, {step: DONE, REFUSED, or what was wrong})"""
    directory = os.path.dirname(os.path.abspath(path))
    with open(path) as file:
        manifest = json.load(file)

    def part(items):
        results = []
        with Engines() as engines, tempfile.TemporaryDirectory() as scratch:
            passage = Passage(os.path.abspath(command), directory, scratch, engines, manifest["answer"])
            for index, item in items:
                cell = parse(item)
                reason = limit(cell)
                results.append((item, reason, {} if reason else dict(passage.through(cell, index))))
                for step, outcome in results[-1][2].items():
                    if outcome not in (DONE, REFUSED):
                        print("%s: %s: %s" % (item["name"], step, outcome), flush=True)
        return results

    return in_parallel(part, shared(list(enumerate(manifest["cells"])), share))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("command", choices=["list", "write", "check", "through", "refuse"])
    parser.add_argument("path", nargs="?")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--writer", action="append")
    parser.add_argument("--reader", action="append")
    parser.add_argument("--rekey")
    parser.add_argument("--results")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    everyone = [name for name in shells() if name in ("3.4.1", "4.6.1", "4.19.0")] + [cells.MULTIPLE_CIPHERS]
    chosen = [cell for name in options.writer or everyone for cell in cells.of(name)]
    failures = []
    if options.command == "list":
        print("\n".join(cell.name for cell in chosen))
    elif options.command == "write":
        manifest, failures = write(options.path, shared(chosen, options.share))
        print("matrix: %d files, %d failed" % (len(manifest), len(failures)))
    elif options.command == "through":
        results = through(options.path, options.rekey, options.share)
        if options.results:
            with open(options.results, "w") as file:
                json.dump([{"cell": cell, "limit": reason, "steps": steps} for cell, reason, steps in results], file, indent=1)
        outcomes = [outcome for _, _, steps in results for outcome in steps.values()]
        failed = len([outcome for outcome in outcomes if outcome not in (DONE, REFUSED)])
        print("matrix: %d files through rekey, %d steps, %d failed" % (len(results), len(outcomes), failed))
        if failed or not outcomes:
            sys.exit(1)
    elif options.command == "refuse":
        pairs = choose(chosen, options.pairs, options.seed)
        manifest, failures = write(options.path, [cell for _, cell in pairs])
        if not failures:
            with tempfile.TemporaryDirectory() as scratch:
                tried = [(case, parse(cell)) for (case, _), cell in zip(pairs, manifest)]
                failures = list(refuse(os.path.abspath(options.rekey), options.path, scratch, tried, options.seed))
        print("matrix: %d pairs of seed %d, %d failed" % (len(pairs), options.seed, len(failures)))
    else:
        results = check(options.path, options.reader or everyone)
        failures = ["%s by %s: %s" % result for result in results if result[2]]
        print("matrix: read %d times, %d failed" % (len(results), len(failures)))
    if failures:
        sys.exit("\n".join(failures))


main()
