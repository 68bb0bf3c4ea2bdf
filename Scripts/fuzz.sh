#!/usr/bin/env bash
# Feeds what an attacker could write to everything that reads it, by libFuzzer under AddressSanitizer: for SECONDS_TO_RUN (600
# unless set) to each target, or to those that are named. What makes one crash is left in .build-fuzz/crashes.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_TO_RUN:-600}
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(fileKind search header tree record journal log page keyring hexadecimal recoveryCode uri sql)
export CIPHERDB_FUZZ=
swift build -q --product Fuzz --scratch-path .build-fuzz -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library \
    -Xswiftc -use-ld=lld
mkdir -p .build-fuzz/crashes
for target in "${targets[@]}"; do
    corpus=.build-fuzz/corpus/$target
    mkdir -p "$corpus"
    seeds=()
    [ -d "Tests/Fuzzing/Corpus/$target" ] && seeds=("Tests/Fuzzing/Corpus/$target")
    log=.build-fuzz/$target.log
    # What is freed stays in AddressSanitizer's quarantine, and counts as memory in use: less of it, or a search for a format meets the limit.
    if ! CIPHERDB_FUZZ=$target ASAN_OPTIONS=quarantine_size_mb=32 .build-fuzz/debug/Fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=512 -max_len=8192 \
        -artifact_prefix=".build-fuzz/crashes/$target-" "$corpus" "${seeds[@]}" >"$log" 2>&1; then
        tail -40 "$log"
        echo "fuzz: $target FAILED" >&2
        exit 1
    fi
    echo "fuzz: $target: $(grep -E 'Done [0-9]+ runs' "$log")"
done
