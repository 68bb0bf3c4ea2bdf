#!/usr/bin/env bash
# Threads, tasks and changes of key on one pool, for SECONDS_TO_RUN (60 unless set), then under ThreadSanitizer for as long.
# The seed is printed; SEED=n repeats its choices, as far as threads let them be repeated.
set -euo pipefail
cd "$(dirname "$0")/.."
export CIPHERDB_STRESS_SECONDS=${SECONDS_TO_RUN:-60}
[ -n "${SEED:-}" ] && export CIPHERDB_STRESS_SEED=$SEED

echo "== stress, $CIPHERDB_STRESS_SECONDS s"
swift build -q --build-tests
swift test -q --skip-build --disable-xctest --filter PoolStressTests

echo "== stress under ThreadSanitizer, $CIPHERDB_STRESS_SECONDS s"
swift build -q --build-tests --sanitize=thread --scratch-path .build-tsan
# A report does not fail the run by itself.
TSAN_OPTIONS="exitcode=66 halt_on_error=1" swift test -q --skip-build --disable-xctest --sanitize=thread \
    --scratch-path .build-tsan --filter 'PoolStressTests|DatabasePoolTests|PoolRekeyTests|PoolDeadlockTests|DatabaseQueueTests'
echo "torture: everything passed"
