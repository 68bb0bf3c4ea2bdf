#!/usr/bin/env bash
# Lints, then builds and tests against the system's engine and each engine of .engines. Any warning fails the run.
set -uo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=()

# run NAME COMMAND…: shows the command's output and remembers a failure.
run() {
    local name=$1
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$log"
    local status=${PIPESTATUS[0]}
    if [ "$status" -ne 0 ]; then
        failed+=("$name")
    elif grep -qE '^[^ ].*: warning: |^warning: ' "$log"; then
        echo "test: the build has warnings" >&2
        failed+=("$name (warnings)")
    fi
}

# Whether an engine of .engines is the very file that the system has.
is_system() {
    local library
    library=$(pkg-config --variable=libdir sqlcipher 2> /dev/null)/libsqlcipher.so
    [ -f "$library" ] && cmp -s "$library" ".engines/$1/lib/libsqlcipher.so"
}

# on SCRATCH [ENGINE]: builds and tests, against the system's engine where none is named.
on() {
    local scratch=$1 engine=${2:-} name="the engine of the system" with=() expected=() results=$1
    if [ -n "$engine" ]; then
        results=.build-$engine
        mkdir -p "$results"
    fi
    if [ "$scratch" = .build ] && [ -n "$engine" ]; then
        name="the engine of the system, SQLCipher $engine"
        expected=(CIPHERDB_ENGINE="$engine")
    elif [ -n "$engine" ]; then
        name="SQLCipher $engine"
        with=(Scripts/with-engine.sh "$engine")
        expected=(CIPHERDB_ENGINE="$engine")
    fi
    # -q leaves the warnings and the errors; the tests tell their failures and a summary.
    run "build with $name" "${with[@]}" swift build -q --build-tests --scratch-path "$scratch"
    run "test with $name" env "${expected[@]}" "${with[@]}" \
        swift test -q --skip-build --scratch-path "$scratch" --disable-xctest --xunit-output "$results/tests.xml"
}

run "places of the mutants" Scripts/mutants.py --check
run lint swift format lint --strict --recursive --parallel Package.swift Keys Sources Tests Examples Benchmarks
system=
others=()
for engine in .engines/[0-9]*; do
    [ -d "$engine" ] || continue
    if is_system "$(basename "$engine")"; then system=$(basename "$engine"); else others+=("$(basename "$engine")"); fi
done
# One run where they are one file.
on .build $system
for engine in "${others[@]}"; do on ".build-$engine" "$engine"; done
run manual make manual
run docs Scripts/docs.sh
if ls .build-[0-9]*/tests.xml > /dev/null 2>&1; then run promises Scripts/promises.py ${CI:+--check}; fi

if [ ${#failed[@]} -gt 0 ]; then
    printf 'test: FAILED: %s\n' "${failed[@]}" >&2
    exit 1
fi
echo "test: everything passed"
