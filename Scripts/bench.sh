#!/usr/bin/env bash
# The benchmarks of the library, against C on the same engine, and against GRDB in a process of its own where that can be built; on the
# engine 4.6.1 of `make engines`, or ENGINE. Arguments go to the program; its figures are kept in .build-bench/bench.json, and drawn
# in Documentation/Performance.svg; the table of Documentation/Performance.md is made of them.
set -euo pipefail
cd "$(dirname "$0")/.."
engine=${ENGINE:-4.6.1}
Scripts/with-engine.sh "$engine" swift build -q -c release --package-path Benchmarks --scratch-path .build-bench/library
# What links SQLite finds the engine under SQLite's name.
names=.build-bench/names
mkdir -p "$names"
ln -sf "$(realpath ".engines/$engine/lib/libsqlcipher.so")" "$names/libsqlite3.so.0"
if swift build -q -c release --package-path Benchmarks/Peers --scratch-path .build-bench/peers; then
    export CIPHERDB_BENCH_GRDB=$PWD/.build-bench/peers/release/GRDBBench CIPHERDB_BENCH_ENGINE=$PWD/$names
else
    echo "bench: GRDB could not be built, and is left out" >&2
fi
Scripts/with-engine.sh "$engine" .build-bench/library/release/Bench \
    --json .build-bench/bench.json --chart Documentation/Performance.svg "$@"
# The document has the figures of all topics.
case " $* " in *" --topic "*) ;; *) Benchmarks/table.py ;; esac
