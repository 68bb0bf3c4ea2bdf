#!/usr/bin/env bash
# usage: Scripts/test.sh [check | torture]
#
# The lint, one build, all tests on each engine of .engines (on the system's where there is none), the manual and the documentation; a
# warning fails it. ENGINE=4.6.1 takes one engine, ONLY=Suite a filter of `swift test`.
# `check`: the build and the tests that are not slow, on the system's engine. `torture`: the build and all tests on each engine, on the disk.
#
# One build serves every engine: it has the header of the system's, and each run loads another library.
set -uo pipefail
cd "$(dirname "$0")/.."
what=${1:-} build=.build-test failed=()
results=$build/results
export NO_COLOR=1
# Not debug: each start of `rekey` takes longer there than most tests, as ArgumentParser looks at the declaration of each command.
flags=(-c release --scratch-path "$build" -Xswiftc -Onone -Xswiftc -enable-testing -Xswiftc -DFAULTS)
# The same on every engine: tried with the newest.
without_engine='^CipherKeysTests\.|^CipherPagesTests\.|^SnippetTests\.|ArgumentTests'
# Other for the engine's own functions for the MACs of pages than for CipherDB's.
page_cryptography='DamageWatchTests|SilentDamageTests|BlobTests|RecompiledStatementTests|InteroperabilityTests|\.RekeyTests'

# run NAME COMMAND…: shows what it says; an error or a warning fails the whole.
run() {
    local name=$1 began=$SECONDS log=$build/run.log
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$log"
    if [ "${PIPESTATUS[0]}" -ne 0 ] || grep -qE '^[^ ].*: warning: |^warning: ' "$log"; then failed+=("$name"); fi
    echo "   $((SECONDS - began)) s"
}

# tests NAME ENGINE FILTER SKIP: one run of them; what it says is in a file.
tests() {
    local log=$results/$1.log libraries command=(swift test -q "${flags[@]}" --skip-build --disable-xctest)
    if [ -n "$2" ]; then
        libraries=$(Scripts/with-engine.sh --libraries "$2") || exit 1
        export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} CIPHERDB_ENGINE=$2
        cmp -s "$(pkg-config --variable=libdir sqlcipher)/libsqlcipher.so" "$libraries/../lib/libsqlcipher.so" \
            || export CIPHERDB_OTHER_HEADER=1
    fi
    # `swift test` lets no second run in. A run takes 6 minutes; one that hangs is ended, and shows where each thread stood.
    if [ "$(uname)" = Linux ]; then
        command=(timeout --foreground --signal=ABRT --kill-after=5m 35m
            "$build/release/CipherDBPackageTests.xctest" --testing-library swift-testing)
    fi
    # All at once, tests that wait for each other run into their limits of time.
    "${command[@]}" --experimental-maximum-parallelization-width 4 --filter "$3" --skip "$4" --xunit-output "$results/$1.xml" > "$log" 2>&1 \
        && return
    [ $? -ne 124 ] || sed -n '/: Backtracing/,/^Registers/p' "$log"
    grep -E '^✘|error:|Fatal' "$log"
    echo "test: $1 failed; all that it said is in $log"
    return 1
}

rm -rf "$results"
mkdir -p "$results"
engines=($(ls .engines 2> /dev/null | grep '^[0-9]' | sort -rV))
if [ -n "${ENGINE:-}" ]; then engines=("$ENGINE"); fi
if [ "$what" = check ]; then
    engines=()
    export CIPHERDB_QUICK=1
elif [ ${#engines[@]} -eq 0 ]; then
    echo "test: there are no engines of the matrix, only the system's: run make engines" >&2
fi

if [ -z "$what" ]; then
    # Python 3.11 or later.
    if python3 -c 'import tomllib' 2> /dev/null; then run "places of the mutants" Scripts/mutants.py --check; fi
    run lint make -s lint
fi
# -q leaves the warnings and the errors.
run build swift build -q --build-tests "${flags[@]}"
[ ${#failed[@]} -eq 0 ] || { echo "test: FAILED: ${failed[*]}" >&2; exit 1; }
if [ -z "$what${ONLY:-}${ENGINE:-}" ] && [ ${#engines[@]} -gt 1 ]; then
    oldest=${engines[${#engines[@]} - 1]}
    for target in FMDBCompat Rekeying; do
        run "$target with the header of SQLCipher $oldest" \
            Scripts/with-engine.sh "$oldest" swift build -q --target "$target" --scratch-path ".build-$oldest"
    done
fi

# In memory where there is room: a process that is killed loses nothing there either.
memory=$(df -Pm /dev/shm 2> /dev/null | awk 'NR == 2 {print $4}')
if [ "$what" != torture ] && [ -z "${TMPDIR:-}" ] && [ "${memory:-0}" -ge 2048 ]; then
    TMPDIR=$(mktemp -d /dev/shm/cipherdb-XXXXXX)
    # Some tests run the command as another user.
    chmod 755 "$TMPDIR"
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi
# The matrix, a line for each run. One at a time: limits of time are met best alone.
number=0
for engine in ${engines[@]+"${engines[@]}"}; do
    skip=$without_engine
    [ $number -gt 0 ] || skip='^$'
    CIPHERDB_SHARE=$number/${#engines[@]} run "SQLCipher $engine" tests "$engine" "$engine" "${ONLY:-.}" "$skip"
    number=$((number + 1))
done
if [ $number -eq 0 ]; then run "the system's engine" tests system "" "${ONLY:-.}" '^$'; fi
for engine in 4.19.0 4.6.1; do
    # The newest, whose codec has the sign of damage, and one whose pager has it.
    [ -z "${ONLY:-}" ] && [[ " ${engines[*]-} " = *" $engine "* ]] || continue
    CIPHERDB_PAGE_CRYPTOGRAPHY=engine run "SQLCipher $engine, its own cryptography" \
        tests "own-cryptography-$engine" "$engine" "$page_cryptography" '^$'
done

if [ -z "$what${ONLY:-}" ]; then
    run manual Scripts/manual.sh "${flags[@]}"
    run documentation Scripts/docs.sh "$build/release"
fi
run results Scripts/results.py "$results"
[ ${#failed[@]} -eq 0 ] || { printf 'test: FAILED: %s\n' "${failed[@]}" >&2; exit 1; }
echo "test: everything passed in $SECONDS s"
