#!/usr/bin/env bash
# install-test.sh [RELEASE…]: builds the package of each release, of all unless named, checks it by lintian, installs it in a root file
# system of the release that has no Swift, and uses it there, also with a slot in a simulated TPM. Needs root, mmdebstrap and lintian.
# A release that cannot be had fails the run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. Scripts/debian.sh
. Scripts/release.sh
[ "$(id -u)" -eq 0 ] || { echo "install-test: run it as root: it makes root file systems" >&2; exit 1; }
for tool in mmdebstrap lintian; do
    command -v "$tool" > /dev/null || { echo "install-test: $tool is missing: apt-get install $tool" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# `make install` and `make uninstall`, elsewhere.
installs_and_uninstalls() {
    local destination=$work/destination
    DESTDIR=$destination PREFIX=/opt/rekey Scripts/install.sh > /dev/null || return 1
    [ -x "$destination/opt/rekey/bin/rekey" ] || return 1
    DESTDIR=$destination PREFIX=/opt/rekey Scripts/install.sh --uninstall || return 1
    [ -z "$(find "$destination" -type f)" ]
}

try_release() {
    local root=$work/$1 package
    package=$(Scripts/deb.sh "$1" | sed -n 's/^deb: //p') && [ -n "$package" ] || return 1
    lintian --allow-root --fail-on error,warning "$package" || return 1
    STAGE=$PWD/.build-release/$1/stage installs_and_uninstalls || { echo "make install leaves files behind"; return 1; }
    name_release "$1" || return 1
    # Without the recommended libipsec-mb first.
    mmdebstrap --quiet --variant=minbase --include=apt,man-db,bash-completion,zsh,fish "${1%-backports}" "$root" "${sources[@]}" || return 1
    if [ -n "$(find "$root" -name '*swift*' -path '*lib*' -print -quit)" ]; then echo "the root file system has Swift"; return 1; fi
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # The recipe of the TPM is run there as the guide has it.
    mkdir -p "$root/srv/check/Scripts" "$root/srv/check/Documentation/HowTo"
    cp "$package" Scripts/install-test-inside.sh "$root/srv/check"
    cp -r Scripts/custody "$root/srv/check/Scripts"
    cp Documentation/HowTo/KeyCustody.md "$root/srv/check/Documentation/HowTo"
    # Mounts of its own, which end with it.
    unshare --mount --pid --fork --mount-proc="$root/proc" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv/check TERM=dumb LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive sh -c 'mount --rbind /dev "$1/dev" && exec chroot "$1" bash /srv/check/install-test-inside.sh "$2"' sh "$root" "$1"
}

failed=()
[ $# -gt 0 ] || set -- bookworm bookworm-backports trixie noble
for name in "$@"; do
    echo "== $name"
    try_release "$name" || failed+=("$name")
done
[ ${#failed[@]} -eq 0 ] || { echo "install-test: FAILED: ${failed[*]}" >&2; exit 1; }
echo "install-test: passed"
