#!/usr/bin/env bash
# All tests under AddressSanitizer and under ThreadSanitizer, and a cycle of opening, using, rekeying and closing under
# LeakSanitizer. Left out, because they cannot be run so: tests that read the memory of their own process (the sanitizers keep what was
# freed) or how it is locked (they lock none), that preload another library (a sanitizer must come first), that kill or trace the
# command, which `make torture` does, that fork while threads run (of the sanitizers' children some stand still for good), and that limit
# the size of files, on which ThreadSanitizer's own runtime ends by SIGBUS.
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/matrix.sh
left_out='LeavesNoKeyInMemory|LeavesNothingInMemory|memoryIsLocked|engineWipesItsMemory|ForeignEngineTests|KillTests|CrashStateTests|ForkTests|commandLeavesNoCoreDump|fileSizeLimit'
in_time='PoolDeadlockTests|PoolRekeyTests|DatabasePoolTests|DatabaseQueueTests|FMDBBehaviourTests'
# A backtrace of a crash would be that of the sanitizer.
export SWIFT_BACKTRACE=enable=no
# The default linker warns of 170 symbols of the sanitizer's own in each executable.
quiet=(-Xswiftc -use-ld=lld)

echo "== LeakSanitizer"
CIPHERDB_LEAKS= swift build -q --product LeakCycle --sanitize=address --scratch-path .build-leaks "${quiet[@]}"
if ASAN_OPTIONS=detect_leaks=1 .build-leaks/debug/LeakCycle --leak > /dev/null 2>&1; then
    echo "sanitize: LeakSanitizer does not see a leak that was made for it" >&2
    exit 1
fi
ASAN_OPTIONS=detect_leaks=1 .build-leaks/debug/LeakCycle

failed=()

# suite NAME: all tests under this sanitizer. Those that must not wait for others, because they are to end in time, run alone.
suite() {
    local scratch=.build-$1
    swift build -q --build-tests --sanitize="$1" --scratch-path "$scratch" "${quiet[@]}"
    local run=(swift test -q --skip-build --disable-xctest --sanitize="$1" --scratch-path "$scratch")
    "${run[@]}" --skip "$left_out|$in_time" || failed+=("$1")
    "${run[@]}" --filter "$in_time" || failed+=("$1")
}

echo "== AddressSanitizer"
# Leaks of Foundation's own, such as those of Process, would be told, too. OpenSSL allocates in each iteration of PBKDF2: with less of
# what was freed held back than by default (256 MB, 1 MB in each thread), it stays in the processor's cache, and takes half the time.
ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:quarantine_size_mb=4:thread_local_quarantine_size_kb=64 suite address

echo "== ThreadSanitizer"
# A report does not fail the run by itself.
TSAN_OPTIONS="exitcode=66 halt_on_error=1" suite thread

if [ ${#failed[@]} -gt 0 ]; then
    echo "sanitize: FAILED: ${failed[*]}" >&2
    exit 1
fi
echo "sanitize: nothing was reported"
