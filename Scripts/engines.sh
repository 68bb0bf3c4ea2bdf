#!/usr/bin/env bash
# Fetches the engines of the test matrix into .engines/, without installing them: .engines/VERSION/ holds a SQLCipher
# with its header, library and shell, .engines/python an interpreter with the sqlcipher3 wheel (SQLCipher 4.x).
# An engine that cannot be had is said aloud, here and at the end of make test; with CIPHERDB_WHOLE_MATRIX it fails the run.
set -uo pipefail
cd "$(dirname "$0")/.."
. Scripts/debian.sh
root=$PWD/.engines
failed=0

# What the matrix lacks, for the end of make test.
missing=$root/missing
mkdir -p "$root"
: > "$missing"

complain() {
    echo "engines: ******** $* ********" >&2
    echo "$*" >> "$missing"
    failed=1
}

if [ "$(uname)" = Darwin ]; then
    echo "the engines of Debian, on macOS: its one is Homebrew's" >> "$missing"
    echo "engines: macOS has Homebrew's engine only"
    exit 0
fi
if ! command -v apt-get > /dev/null; then
    complain "SQLCipher 3.4.1 and 4.6.1: there is no apt-get on this machine, and so no Debian to fetch them from"
fi

# fetch SUITE FOLDER: unpacks the suite's SQLCipher into FOLDER.
fetch() {
    local suite=$1 folder=$2 apt=$root/apt/$1 source library
    source=$(debian_source "$suite")
    [ -n "$source" ] || { echo "engines: no Debian mirror in this machine's apt configuration" >&2; return 1; }
    rm -rf "$apt" "$folder"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages"
    echo "$source" > "$apt/sources.list"
    : > "$apt/status"
    # A configuration of its own: neither the machine's sources nor its package state are touched.
    # apt drops to its own user where it can; the folder may not be that user's to read.
    local options=(-q -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null
        -o Dir::Etc::PreferencesParts=/dev/null -o "Dir::State::Lists=$apt/lists" -o "Dir::State::Status=$apt/status"
        -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User= -o Acquire::Languages=none)
    apt-get "${options[@]}" update > "$apt/log" 2>&1 || { tail -n 3 "$apt/log" >&2; return 1; }
    library=$(apt-cache "${options[@]}" depends sqlcipher | sed -nE 's/ *Depends: (libsqlcipher[0-9]+)$/\1/p')
    (cd "$apt/packages" && apt-get "${options[@]}" download sqlcipher libsqlcipher-dev "$library") >> "$apt/log" 2>&1 ||
        { tail -n 3 "$apt/log" >&2; return 1; }
    mkdir -p "$folder/bin" "$folder/pkgconfig"
    for package in "$apt"/packages/*.deb; do
        dpkg -x "$package" "$folder" || return 1
    done
    local libraries
    libraries=$(dirname "$(find "$folder/usr/lib" -name 'libsqlcipher.so' | head -n 1)")
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$folder/usr/bin/sqlcipher" > "$folder/bin/sqlcipher"
    chmod +x "$folder/bin/sqlcipher"
    ln -sfn "$libraries" "$folder/lib"
    # Debian's file has only -I…/include/sqlcipher, so that <sqlcipher/sqlite3.h> would still be the installed engine's.
    cat > "$folder/pkgconfig/sqlcipher.pc" <<PC
Name: SQLCipher
Description: SQLCipher from $suite
Version: 0
Cflags: -I$folder/usr/include -I$folder/usr/include/sqlcipher
Libs: -L$libraries -lsqlcipher
PC
    # Without -L: libcrypto's would put the system's folder first on the link line, and with it the installed libsqlcipher.
    cat > "$folder/pkgconfig/libcrypto.pc" <<PC
Name: OpenSSL-libcrypto
Description: OpenSSL cryptography library
Version: $(pkg-config --modversion libcrypto)
Cflags: $(pkg-config --cflags libcrypto)
Libs: -lcrypto
PC
}

# The SQLCipher version that the shell in FOLDER reports.
shell_version() {
    "$1/bin/sqlcipher" :memory: 'PRAGMA cipher_version;' 2>&1 | cut -d' ' -f1
}

engine() {
    local version=$1 suite=$2 folder=$root/$1
    command -v apt-get > /dev/null || return
    [ "$(shell_version "$folder" 2>/dev/null)" = "$version" ] && return
    if ! fetch "$suite" "$folder"; then
        rm -rf "$folder"
        complain "SQLCipher $version could not be fetched from $suite: not tested"
    elif [ "$(shell_version "$folder")" != "$version" ]; then
        complain "SQLCipher $version: $suite has $(shell_version "$folder")"
        rm -rf "$folder"
    fi
}

engine 3.4.1 bookworm
engine 4.6.1 bookworm-backports

# The newest engine is welcome where its libraries load; on an older release they usually want a newer C library.
if command -v apt-get > /dev/null && [ ! -e "$root/newest.checked" ]; then
    rm -f "$root/newest.missing"
    if fetch sid "$root/newest"; then
        : > "$root/newest.checked"
        version=$(shell_version "$root/newest")
        case $version in
            [0-9]*.[0-9]*)
                rm -rf "${root:?}/$version"
                if fetch sid "$root/$version"; then
                    echo "engines: SQLCipher $version from sid joins the matrix"
                else
                    rm -rf "${root:?}/$version"
                    echo "SQLCipher $version could not be fetched from sid" > "$root/newest.missing"
                fi ;;
            *)
                echo "the newest SQLCipher, from sid: it does not load on this release" > "$root/newest.missing"
                echo "engines: the newest SQLCipher, from sid, does not load here:"
                "$root/newest/bin/sqlcipher" -version 2>&1 | head -n 1 ;;
        esac
    else
        echo "the newest SQLCipher: sid could not be reached" > "$root/newest.missing"
        echo "engines: sid could not be reached; the matrix goes without the newest engine" >&2
    fi
    rm -rf "$root/newest"
fi

python=$root/python/bin/python
if ! "$python" -c 'import sqlcipher3' 2>/dev/null; then
    rm -rf "$root/python"
    if ! { /usr/bin/python3 -m venv "$root/python" && "$python" -m pip install -q --disable-pip-version-check sqlcipher3==0.6.4; }; then
        rm -rf "$root/python"
        complain "Python's sqlcipher3 could not be installed: its checks of our files do not run"
    fi
fi

cat "$root/newest.missing" >> "$missing" 2> /dev/null
rm -rf "$root/apt"
for folder in "$root"/[0-9]*; do
    [ -d "$folder" ] && echo "engines: SQLCipher $(basename "$folder"), SQLite $("$folder/bin/sqlcipher" -version | cut -d' ' -f1)"
done
[ -x "$python" ] && "$python" - <<'PY'
import sqlcipher3
connection = sqlcipher3.connect(":memory:")
print("engines: Python's sqlcipher3 with SQLCipher", connection.execute("PRAGMA cipher_version").fetchone()[0])
PY
if [ "$failed" -ne 0 ] && [ -n "${CIPHERDB_WHOLE_MATRIX:-}" ]; then
    exit 1
fi
exit 0
