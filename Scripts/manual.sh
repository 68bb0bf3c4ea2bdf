#!/usr/bin/env bash
# Writes the man pages of rekey to .build/man: what it says about its commands, and the topics of `rekey help`.
# Options are those of the build to use.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -q --product rekey "$@"
Scripts/manual.py "$(swift build "$@" --show-bin-path)/rekey" .build/man
echo "manual: .build/man"
