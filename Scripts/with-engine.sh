#!/usr/bin/env bash
# with-engine.sh VERSION COMMAND…: runs the command so that swift builds and runs against .engines/VERSION.
# Give swift a scratch path of its own for each engine: --scratch-path .build-VERSION.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)/.engines/$1
[ -d "$root" ] || { echo "with-engine: no engine $1; run make engines" >&2; exit 1; }
shift
export PKG_CONFIG_PATH=$root/pkgconfig
# A path with its links resolved: the loader is given the folder that the link step was given.
LD_LIBRARY_PATH=$(realpath "$root/lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$@"
