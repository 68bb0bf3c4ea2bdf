#!/usr/bin/env bash
# What takes long, by chance: a pool under load, the command killed in each operation, its calls of the system failing, the states
# that a crash leaves, bits flipped in files, command lines, and fuzzing. On each engine, with seeds that are printed.
#
# What is tried by chance is bounded by a number and by CASE_SECONDS (120 unless set) for each case. These are the numbers unless
# the environment sets others; SEED=n repeats the choices, as far as threads and processes let them be repeated.
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/matrix.sh
# Load on a pool, in seconds, without and with ThreadSanitizer.
export CIPHERDB_STRESS_SECONDS=${SECONDS_TO_RUN:-60}
# Kills in each operation and journal mode, of a file and of a keyring, and of what rotates the key of a service.
export CIPHERDB_KILLS=${KILLS:-100} CIPHERDB_KEYRING_KILLS=${KEYRING_KILLS:-50} CIPHERDB_ROTATION_KILLS=${ROTATION_KILLS:-50}
# Torn states after each call of a rotation.
export CIPHERDB_TORN=${TORN:-10}
# Flipped bits for each format, in a file and in a journal, and in a log; and files to be recovered that lost pages.
export CIPHERDB_FLIPS=${FLIPS:-5000} CIPHERDB_LOG_FLIPS=$((${FLIPS:-5000} / 4)) CIPHERDB_LOSSES=$((${FLIPS:-5000} / 10))
# Kills of a migration of 200 steps: one in each.
export CIPHERDB_MIGRATION_KILLS=200
# Wrong keys and parameters of files that other programs wrote.
export CIPHERDB_WRONG_PAIRS=${WRONG_PAIRS:-500}
# Changes of a repository of backups.
export CIPHERDB_REPOSITORIES=${REPOSITORIES:-5000}
# Command lines.
export CIPHERDB_LINES=${LINES_TO_READ:-5000}
# All that the tests could enumerate: each call of the system that the command makes fails once, and so on.
export CIPHERDB_COMPLETE=1
export CIPHERDB_HANG_MINUTES=60
export CIPHERDB_CASE_SECONDS=${CASE_SECONDS:-120}
if [ -n "${SEED:-}" ]; then export CIPHERDB_SEED=$SEED; fi
# For each target.
fuzz_seconds=${FUZZ_SECONDS:-30}
backup_seconds=${BACKUP_SECONDS:-600}

echo "== stress under ThreadSanitizer, $CIPHERDB_STRESS_SECONDS s"
swift build -q --build-tests --sanitize=thread --scratch-path .build-tsan
# A report does not fail the run by itself.
TSAN_OPTIONS="exitcode=66 halt_on_error=1" swift test -q --skip-build --disable-xctest --sanitize=thread \
    --scratch-path .build-tsan \
    --filter 'PoolStressTests|DatabasePoolTests|PoolRekeyTests|PoolDeadlockTests|DatabaseQueueTests|PagePipeline|ChangeTests'

# One build for every engine, as `make test` has it; each engine is a job of its own there.
Scripts/test.sh torture

echo "== a followed backup, killed beside writers that are killed, $backup_seconds s"
.engines/python/bin/python Scripts/backup-torture.py .build-test/release/rekey "$backup_seconds"

# What the tests took a share of.
echo "== formats of other programs"
Tests/FormatMatrix/formats.py

if [ "$(uname)" = Linux ]; then
    echo "== fuzzing, $fuzz_seconds s for each target"
    SECONDS_TO_RUN=$fuzz_seconds Scripts/fuzz.sh
fi
echo "torture: everything passed in $((SECONDS / 60)) minutes"
