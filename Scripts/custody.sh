#!/usr/bin/env bash
# usage: Scripts/custody.sh [NAME…]
#
# Runs the recipes of Documentation/HowTo/KeyCustody.md on real parts, or those of Scripts/custody that are named: each is used, and
# lost. REKEY is the command to use; without it, it is built. Says which recipes were skipped and why; fails if one fails.
set -uo pipefail
cd "$(dirname "$0")/.."
if [ -z "${REKEY:-}" ]; then
    swift build -q --product rekey || exit 1
    REKEY=$PWD/.build/debug/rekey
fi
export REKEY
if [ $# -eq 0 ]; then
    set --
    for script in Scripts/custody/*.sh; do
        name=$(basename "$script" .sh)
        [ "$name" = common ] || set -- "$@" "$name"
    done
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=() skipped=() failed=()
for name in "$@"; do
    echo "== $name"
    # Without a terminal, at which a part could ask.
    "Scripts/custody/$name.sh" < /dev/null 2>&1 | tee "$log"
    case ${PIPESTATUS[0]} in
    0) passed+=("$name") ;;
    77) skipped+=("$name: $(sed -n 's/^custody: skipped: //p' "$log")") ;;
    *) failed+=("$name") ;;
    esac
done
echo "custody: ran: ${passed[*]:-none}"
for reason in ${skipped[@]+"${skipped[@]}"}; do echo "custody: skipped $reason"; done
for name in ${failed[@]+"${failed[@]}"}; do echo "custody: FAILED: $name" >&2; done
[ ${#failed[@]} -eq 0 ]
