#!/usr/bin/env bash
# reproducible.sh [RELEASE]: builds the package of the last commit twice, in two directories, and compares the two. Where they differ, it
# names the sections of the command and the files that do.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
builds=("$work/one" "$work/another/directory")
for build in "${builds[@]}"; do
    git clone -q . "$build"
    "$build/Scripts/deb.sh" "$@"
done
one=$(echo "${builds[0]}"/.build-release/rekey_*.deb) other=$(echo "${builds[1]}"/.build-release/rekey_*.deb)
sha256sum "$one" "$other" | sed "s,$work/,,"
cmp -s "$one" "$other" && { echo "reproducible: the packages are the same"; exit 0; }
echo "reproducible: the packages differ:" >&2
mkdir "$work/first" "$work/second"
dpkg-deb -R "$one" "$work/first"
dpkg-deb -R "$other" "$work/second"
diff -rq "$work/first" "$work/second" >&2 || true
for section in $(readelf -SW "$work/first/usr/bin/rekey" | sed -nE 's/^ *\[ *[0-9]+\] (\.[^ ]+).*/\1/p'); do
    for side in first second; do objcopy -O binary --only-section="$section" "$work/$side/usr/bin/rekey" "$work/$side.section" 2> /dev/null || true; done
    cmp -s "$work/first.section" "$work/second.section" || echo "  section $section" >&2
done
exit 1
