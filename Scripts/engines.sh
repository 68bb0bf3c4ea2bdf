#!/usr/bin/env bash
# Fetches the engines of the test matrix into .engines/, or builds them, without installing them: .engines/VERSION/ holds a
# SQLCipher with its header, library and shell, .engines/python an interpreter with the wheels sqlcipher3 (SQLCipher 4.x) and
# apsw-sqlite3mc (SQLite3 Multiple Ciphers).
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
    local suite=$1 directory=$2 apt=$root/apt/$1 source library
    source=$(debian_source "$suite")
    [ -n "$source" ] || { echo "engines: no Debian mirror in this machine's apt configuration" >&2; return 1; }
    rm -rf "$apt" "$directory"
    mkdir -p "$apt/packages"
    use_sources "$apt" "$source" || return 1
    library=$(apt-cache "${elsewhere[@]}" depends sqlcipher | sed -nE 's/ *Depends: (libsqlcipher[0-9]+)$/\1/p')
    (cd "$apt/packages" && apt-get "${elsewhere[@]}" download sqlcipher libsqlcipher-dev "$library") >> "$apt/log" 2>&1 ||
        { tail -n 3 "$apt/log" >&2; return 1; }
    mkdir -p "$directory/bin" "$directory/pkgconfig"
    for package in "$apt"/packages/*.deb; do
        dpkg -x "$package" "$directory" || return 1
    done
    local libraries
    libraries=$(dirname "$(find "$directory/usr/lib" -name 'libsqlcipher.so' | head -n 1)")
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$directory/usr/bin/sqlcipher" > "$directory/bin/sqlcipher"
    chmod +x "$directory/bin/sqlcipher"
    ln -sfn "$libraries" "$directory/lib"
    describe "$directory" "$directory/usr/include" "$libraries" "$suite"
}

# The SQLCipher version that the shell in FOLDER reports.
shell_version() {
    "$1/bin/sqlcipher" :memory: 'PRAGMA cipher_version;' 2>&1 | cut -d' ' -f1
}

engine() {
    local version=$1 suite=$2 directory=$root/$1
    command -v apt-get > /dev/null || return
    [ "$(shell_version "$directory" 2>/dev/null)" = "$version" ] && return
    if ! fetch "$suite" "$directory"; then
        rm -rf "$directory"
        complain "SQLCipher $version could not be fetched from $suite: not tested"
    elif [ "$(shell_version "$directory")" != "$version" ]; then
        complain "SQLCipher $version: $suite has $(shell_version "$directory")"
        rm -rf "$directory"
    fi
}

engine 3.4.1 bookworm
engine 4.6.1 bookworm-backports

# Those that no Debian release has are built from the amalgamation in the source package of Python's sqlcipher3.
# amalgamation NAME VERSION PACKAGE SHA256 [EDIT]: builds one into .engines/NAME, by Debian's options, after sed's EDIT of its source.
amalgamation() {
    local version=$2 package=$3 hash=$4 directory=$root/$1 source=$root/source/$1
    [ "$(shell_version "$directory" 2>/dev/null)" = "$version" ] && return
    rm -rf "$directory" "$source"
    mkdir -p "$source" "$directory/bin" "$directory/lib" "$directory/pkgconfig" "$directory/usr/include/sqlcipher"
    echo "sqlcipher3==$package --hash=sha256:$hash" > "$source/requirements"
    "$python" -m pip download -q --disable-pip-version-check --no-binary :all: --no-deps --no-build-isolation \
        --require-hashes -r "$source/requirements" -d "$source" > "$source/log" 2>&1 || { tail -n 3 "$source/log" >&2; return 1; }
    tar -xzf "$source/sqlcipher3-$package.tar.gz" -C "$source" --strip-components 1 || return 1
    sed -i.stock "${5:-}" "$source/vendor/sqlite3.c" || return 1
    if [ -n "${5:-}" ] && cmp -s "$source/vendor/sqlite3.c" "$source/vendor/sqlite3.c.stock"; then return 1; fi
    cp "$source/vendor/sqlite3.h" "$directory/usr/include/sqlcipher/"
    ${CC:-$(command -v cc || echo clang)} -O2 -fPIC -w -fno-strict-aliasing -D_FILE_OFFSET_BITS=64 -DHAVE_STDINT_H=1 -DHAVE_USLEEP=1 \
        -DSQLITE_{HAS_CODEC,SECURE_DELETE,SOUNDEX=1,OMIT_LOOKASIDE=1,USE_URI=1,MAX_SCHEMA_RETRY=25,THREADSAFE=1,TEMP_STORE=2} \
        -DSQLITE_ENABLE_{COLUMN_METADATA,FTS3,FTS3_PARENTHESIS,FTS4,FTS5,RTREE=1,UNLOCK_NOTIFY,DBSTAT_VTAB,DBPAGE_VTAB} \
        -DSQLITE_ENABLE_{UPDATE_DELETE_LIMIT=1,SESSION,PREUPDATE_HOOK,MATH_FUNCTIONS} \
        -DSQLITE_EXTRA_INIT=sqlcipher_extra_init -DSQLITE_EXTRA_SHUTDOWN=sqlcipher_extra_shutdown \
        $(pkg-config --cflags libcrypto) -shared -Wl,-soname,libsqlcipher.so.1 -o "$directory/lib/libsqlcipher.so.1" \
        "$source/vendor/sqlite3.c" $(pkg-config --libs libcrypto) -lm -lpthread -ldl || return 1
    ln -sf libsqlcipher.so.1 "$directory/lib/libsqlcipher.so"
    # The package has no shell, and Debian's run on no other library.
    printf '#!/bin/sh\nexec /usr/bin/python3 %s %s "$@"\n' "$PWD/Scripts/shell.py" "$directory/lib/libsqlcipher.so" > "$directory/bin/sqlcipher"
    chmod +x "$directory/bin/sqlcipher"
    describe "$directory" "$directory/usr/include" "$directory/lib" "the source package of sqlcipher3 $package"
    [ "$(shell_version "$directory")" = "$version" ]
}

python=$root/python/bin/python
if ! "$python" -c 'import sqlcipher3, apsw, setuptools, wheel' 2>/dev/null; then
    rm -rf "$root/python"
    if ! { /usr/bin/python3 -m venv "$root/python" && "$python" -m pip install -q --disable-pip-version-check \
        sqlcipher3==0.6.4 apsw-sqlite3mc==3.54.0.0 setuptools wheel; }; then
        rm -rf "$root/python"
        complain "Python's sqlcipher3 and apsw-sqlite3mc could not be installed: their checks of our files do not run"
    fi
fi

# Two at once: each takes a minute of one processor.
build() {
    amalgamation "$@" || rm -rf "${root:?}/$1"
}
if [ -x "$python" ]; then
    of_4_12=(4.12.0 0.6.3 fcbb784663d21213563f3fbda392ffb5f9d7b84dff03d3d114be6bb54338a1ae)
    build 4.12.0 "${of_4_12[@]}" &
    build 4.19.0 4.19.0 0.6.4 b02a3edfc554c9197d63ab4c38a30f7682eec65b10e5be2c9285a0d6ffb7a29a &
    wait
    # For WALResetTests: a checkpoint waits for so many microseconds between the header of the WAL and its locks.
    build wal-race "${of_4_12[@]}" '/^static int walCheckpoint(/,/^}/ s/^  pInfo = walCkptInfo(pWal);$/&\
  if( getenv("CIPHERDB_WAL_RACE") ) usleep(atoi(getenv("CIPHERDB_WAL_RACE")));/'
    [ -d "$root/wal-race" ] || complain "SQLCipher 4.12.0 with a slow checkpoint could not be built: its WAL-reset bug is not provoked by load"
fi
for version in 4.12.0 4.19.0; do
    [ -d "$root/$version" ] || complain "SQLCipher $version could not be built: not tested"
done
rm -rf "$root/apt" "$root/source"
for directory in "$root"/[0-9]*; do
    [ -d "$directory" ] && echo "engines: SQLCipher $(basename "$directory"), SQLite $("$directory/bin/sqlcipher" :memory: 'SELECT sqlite_version();')"
done
[ -x "$python" ] && "$python" - <<'PY'
import sqlcipher3
connection = sqlcipher3.connect(":memory:")
print("engines: Python's sqlcipher3 with SQLCipher", connection.execute("PRAGMA cipher_version").fetchone()[0])
PY
[ -x "$python" ] && "$python" - <<'PY'
import apsw
print("engines: Python's apsw with", apsw.Connection(":memory:").execute("SELECT sqlite3mc_version()").get)
PY
if [ "$failed" -ne 0 ] && [ -n "${CIPHERDB_WHOLE_MATRIX:-}" ]; then
    exit 1
fi
exit 0
