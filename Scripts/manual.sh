#!/usr/bin/env bash
# Writes the man page of rekey to .build/rekey.1: what ArgumentParser makes of its commands, and the topics of `rekey help`.
# Options are those of the build to use.
set -euo pipefail
cd "$(dirname "$0")/.."
swift package -q "$@" generate-manual > /dev/null
mkdir -p .build
# A build in another directory has its outputs there.
directory=.build
while [ $# -gt 0 ]; do
    if [ "$1" = --scratch-path ]; then directory=$2; fi
    shift
done
manual=$directory/plugins/GenerateManual/outputs/rekey/rekey.1
rekey=$(ls -t "$directory"/*/rekey "$directory"/*/*/rekey 2> /dev/null | head -1)

# topic HEADING NAME: a topic as a section, in which lines are kept as they are.
topic() {
    printf '.Sh %s\n.Bd -literal\n' "$1"
    "$rekey" help "$2" | sed -e 's/\\/\\e/g' -e 's/^\([.'"'"']\)/\\\&\1/' -e 's/-/\\-/g'
    printf '.Ed\n'
}

{
    # Authors come last.
    sed '/^\.Sh .*AUTHORS/,$d' "$manual"
    topic "EXIT STATUS" exit-status
    topic "JSON" json
    topic "ENVIRONMENT" environment
    sed -n '/^\.Sh .*AUTHORS/,$p' "$manual"
} > .build/rekey.1
echo "manual: .build/rekey.1"
