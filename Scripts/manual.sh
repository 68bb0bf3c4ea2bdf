#!/usr/bin/env bash
# Writes the man page of rekey, which is made from its help, to .build/rekey.1. Options are those of the build to use.
set -euo pipefail
cd "$(dirname "$0")/.."
swift package -q "$@" generate-manual > /dev/null
mkdir -p .build
# A build in another folder has its outputs there.
folder=.build
while [ $# -gt 0 ]; do
    if [ "$1" = --scratch-path ]; then folder=$2; fi
    shift
done
cp "$folder/plugins/GenerateManual/outputs/rekey/rekey.1" .build/rekey.1
echo "manual: .build/rekey.1"
