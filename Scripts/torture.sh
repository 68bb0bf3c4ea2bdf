#!/usr/bin/env bash
# Threads, tasks and changes of key on one pool, for SECONDS_TO_RUN (60 unless set), then under ThreadSanitizer for as long;
# the command, killed KILLS times (100 unless set) at random moments in each operation, journal mode and engine; and
# every state that a crash leaves of a change of a keyring's key, TORN torn ones (10 unless set) after each call;
# fuzzing, FUZZ_SECONDS (30 unless set) for each target;
# LINES_TO_READ (5000 unless set) command lines of chance; each call of the system that the command makes failing once; bits flipped in files, FLIPS of them (5000 unless set) for each format and engine. Seeds are printed; SEED=n repeats the choices, as far as threads and processes let them be repeated.
set -euo pipefail
cd "$(dirname "$0")/.."
export CIPHERDB_FAULTS=all
export CIPHERDB_STRESS_SECONDS=${SECONDS_TO_RUN:-60} CIPHERDB_KILLS=${KILLS:-100} CIPHERDB_FLIPS=${FLIPS:-5000}
export CIPHERDB_TORN=${TORN:-10} CIPHERDB_LINES=${LINES_TO_READ:-5000}
if [ -n "${SEED:-}" ]; then export CIPHERDB_STRESS_SEED=$SEED CIPHERDB_KILL_SEED=$SEED CIPHERDB_FLIP_SEED=$SEED CIPHERDB_LINE_SEED=$SEED; fi

echo "== stress, $CIPHERDB_STRESS_SECONDS s"
swift build -q --build-tests
swift test -q --skip-build --disable-xctest --filter PoolStressTests

echo "== stress under ThreadSanitizer, $CIPHERDB_STRESS_SECONDS s"
swift build -q --build-tests --sanitize=thread --scratch-path .build-tsan
# A report does not fail the run by itself.
TSAN_OPTIONS="exitcode=66 halt_on_error=1" swift test -q --skip-build --disable-xctest --sanitize=thread \
    --scratch-path .build-tsan \
    --filter 'PoolStressTests|DatabasePoolTests|PoolRekeyTests|PoolDeadlockTests|DatabaseQueueTests|PagePipeline|ChangeTests'

for engine in .engines/[0-9]*; do
    [ -d "$engine" ] || continue
    name=$(basename "$engine")
    echo "== $CIPHERDB_KILLS kills of each operation, crash states, every call failing, $CIPHERDB_FLIPS flipped bits, SQLCipher $name"
    Scripts/with-engine.sh "$name" swift build -q --build-tests --scratch-path ".build-$name"
    CIPHERDB_ENGINE=$name Scripts/with-engine.sh "$name" \
        swift test -q --skip-build --disable-xctest --scratch-path ".build-$name" --filter 'KillTests|CrashStateTests|SystemFaultTests|DamageTests|RecoverTests|ArgumentTests'
done
if [ "$(uname)" = Linux ]; then
    echo "== fuzzing, ${FUZZ_SECONDS:-30} s for each target"
    SECONDS_TO_RUN=${FUZZ_SECONDS:-30} Scripts/fuzz.sh
fi
echo "torture: everything passed"
