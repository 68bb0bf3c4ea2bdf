#!/usr/bin/env bash
# Installs what building and testing CipherDB needs and this machine lacks. Asks for root only if something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/debian.sh

packages=(libsqlcipher-dev sqlcipher libssl-dev pkg-config python3 python3-venv strace)
# Optional, and of this architecture only: the HMACs of several pages at once.
[ "$(uname -m)" != x86_64 ] || packages+=(libipsec-mb-dev)

if [ "$(uname)" = Darwin ]; then
    command -v brew >/dev/null || { echo "setup: install Homebrew, then: brew install sqlcipher openssl@3 pkg-config" >&2; exit 1; }
    brew list sqlcipher openssl@3 pkg-config >/dev/null 2>&1 || brew install sqlcipher openssl@3 pkg-config
    exit 0
fi

command -v swift >/dev/null || { echo "setup: Swift 6.2 or later is needed; see swift.org/install" >&2; exit 1; }

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -x installed >/dev/null || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

# give_up MESSAGE: without the missing packages, where the library can be built all the same; some tests are skipped then.
give_up() {
    echo "setup: $*" >&2
    if pkg-config --exists sqlcipher libcrypto 2> /dev/null; then
        echo "setup: goes on without them" >&2
        exit 0
    fi
    exit 1
}

if ! command -v apt-get >/dev/null; then
    give_up "this machine has no apt-get. Install the equivalents of: ${missing[*]}"
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root() { "$@"; }
elif command -v sudo >/dev/null && sudo -v; then
    as_root() { sudo "$@"; }
else
    give_up "neither root nor sudo here; ask an administrator to run: apt-get install ${missing[*]}"
fi

echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
as_root apt-get update -q || give_up "the packages cannot be reached: ${missing[*]}"

# SQLCipher 4.6 is in Debian 12's backports; main has 3.4.1, without FTS5, UPSERT and SHA-512.
engine_from=()
if grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release; then
    backports=$(debian_source bookworm-backports)
    if [ -n "$backports" ] && ! apt-get indextargets 'Release: bookworm-backports' | grep . >/dev/null; then
        echo "$backports" | as_root tee /etc/apt/sources.list.d/bookworm-backports.list >/dev/null
        if ! as_root apt-get update -q; then
            echo "setup: bookworm-backports cannot be reached; SQLCipher comes from main" >&2
            as_root rm /etc/apt/sources.list.d/bookworm-backports.list
            as_root apt-get update -q
        fi
    fi
    if apt-cache policy libsqlcipher-dev | grep bookworm-backports >/dev/null; then
        engine_from=(-t bookworm-backports)
    fi
fi

engine=() others=()
for package in "${missing[@]}"; do
    case $package in *sqlcipher*) engine+=("$package") ;; *) others+=("$package") ;; esac
done
if [ ${#others[@]} -gt 0 ]; then
    as_root apt-get install -q -y --no-install-recommends "${others[@]}" || give_up "could not be installed: ${others[*]}"
fi
if [ ${#engine[@]} -gt 0 ]; then
    as_root apt-get install -q -y --no-install-recommends "${engine_from[@]}" "${engine[@]}"
fi
echo "setup: done; SQLCipher $(dpkg-query -W -f '${Version}' libsqlcipher-dev)"
