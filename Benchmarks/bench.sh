#!/usr/bin/env bash
# The benchmarks of the library: C on the same engine, CipherDB, FMDBCompat, GRDB where that can be built, and the programs of
# CIPHERDB_BENCH_PEERS; on the engine 4.6.1 of `make engines`, or ENGINE. Each has a process of its own, and they take turns.
# Arguments go to the program (--help lists them). The figures are kept in .build-bench/bench.json, and written into the tables of
# Documentation/Performance.md by a run of all topics, which draws Documentation/Performance.svg, too, or of the topic sizes.
# CIPHERDB_BENCH_PEERS=NAME=PROGRAM:…: other libraries, which need not be here; see Benchmarks/Turns/Sources/Turns/Contender.swift.
set -euo pipefail
cd "$(dirname "$0")/.."
engine=${ENGINE:-4.6.1}
Scripts/with-engine.sh "$engine" swift build -q -c release --package-path Benchmarks --scratch-path .build-bench/library
peers=${CIPHERDB_BENCH_PEERS:-}
if swift build -q -c release --package-path Benchmarks/Peers --scratch-path .build-bench/peers; then
    peers=GRDB=$PWD/.build-bench/peers/release/GRDBBench${peers:+:$peers}
else
    echo "bench: GRDB could not be built, and is left out" >&2
fi
# What links SQLite finds the engine under SQLite's name.
names=$PWD/.build-bench/names
mkdir -p "$names"
ln -sf "$(realpath ".engines/$engine/lib/libsqlcipher.so")" "$names/libsqlite3.so.0"
report=(--json .build-bench/bench.json)
# The documents have the figures of all topics.
case " $* " in
*" --topic "*) ;;
*) report+=(--chart Documentation/Performance.svg) ;;
esac
CIPHERDB_BENCH_PEERS=$peers LD_LIBRARY_PATH=$names${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    Scripts/with-engine.sh "$engine" .build-bench/library/release/Bench "${report[@]}" "$@"
case " $* " in
*" --topic sizes "*) Benchmarks/table.py ;;
*" --topic "*) ;;
*) Benchmarks/table.py ;;
esac
