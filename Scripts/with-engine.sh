#!/usr/bin/env bash
# with-engine.sh VERSION COMMAND…: runs the command so that swift builds and runs against .engines/VERSION.
# Give swift a scratch path of its own for each engine: --scratch-path .build-VERSION.
# with-engine.sh --libraries VERSION: the directory from which a program that was built for another engine loads this one.
set -euo pipefail
only_libraries=
if [ "$1" = --libraries ]; then
    only_libraries=1
    shift
fi
root=$(cd "$(dirname "$0")/.." && pwd)/.engines/$1
[ -d "$root" ] || { echo "with-engine: no engine $1; run make engines" >&2; exit 1; }
shift
# Paths with their links resolved: the loader is given the directory that the link step was given.
libraries=$(cd "$root/lib" && pwd -P)
if [ -n "$only_libraries" ]; then
    # Debian raised the number in the library's name without a change of what CipherDB calls.
    mkdir -p "$root/any"
    for number in 0 1 2; do
        if [ ! -e "$root/any/libsqlcipher.so.$number" ]; then
            ln -sfn "$libraries/libsqlcipher.so" "$root/any/libsqlcipher.so.$number"
        fi
    done
    echo "$root/any"
    exit 0
fi
export PKG_CONFIG_PATH=$root/pkgconfig
LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$@"
