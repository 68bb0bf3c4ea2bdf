#!/usr/bin/env bash
# All tests under AddressSanitizer and under ThreadSanitizer, and a cycle of opening, using, rekeying and closing under
# LeakSanitizer. Left out, because they cannot be run so: tests that read the memory of their own process (the sanitizers keep what was
# freed), that preload another library (a sanitizer must come first), and that kill or trace the command, which `make torture` does.
set -euo pipefail
cd "$(dirname "$0")/.."
left_out='IsLeftInMemory|theEngineWipesItsMemory|ForeignEngineTests|KillTests|CrashStateTests|theCommandLeavesNoCoreDump'
# A backtrace of a crash would be that of the sanitizer.
export SWIFT_BACKTRACE=enable=no

echo "== LeakSanitizer"
CIPHERDB_LEAKS= swift build -q --product LeakCycle --sanitize=address --scratch-path .build-leaks
if ASAN_OPTIONS=detect_leaks=1 .build-leaks/debug/LeakCycle --leak > /dev/null 2>&1; then
    echo "sanitize: LeakSanitizer does not see a leak that was made for it" >&2
    exit 1
fi
ASAN_OPTIONS=detect_leaks=1 .build-leaks/debug/LeakCycle

echo "== AddressSanitizer"
swift build -q --build-tests --sanitize=address --scratch-path .build-asan
# Leaks of Foundation's own, such as those of Process, would be told, too.
ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 swift test -q --skip-build --disable-xctest --sanitize=address \
    --scratch-path .build-asan --skip "$left_out"

echo "== ThreadSanitizer"
swift build -q --build-tests --sanitize=thread --scratch-path .build-tsan
# A report does not fail the run by itself.
TSAN_OPTIONS="exitcode=66 halt_on_error=1" swift test -q --skip-build --disable-xctest --sanitize=thread \
    --scratch-path .build-tsan --skip "$left_out"
echo "sanitize: nothing was reported"
