#!/usr/bin/env bash
# install-test.sh [RELEASE…]: builds the package of each release, of all unless named, checks it by lintian, installs it in a root file
# system of the release that has no Swift, and uses it there, also with a slot in a simulated TPM; then boots the system, which runs the units
# of Packaging/systemd. Needs root, mmdebstrap, lintian and systemd-nspawn. A release that cannot be had fails the run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. Scripts/debian.sh
. Scripts/release.sh
[ "$(id -u)" -eq 0 ] || { echo "install-test: run it as root: it makes root file systems" >&2; exit 1; }
for tool in mmdebstrap lintian systemd-nspawn:systemd-container; do
    command -v "${tool%:*}" > /dev/null || { echo "install-test: ${tool%:*} is missing: apt-get install ${tool#*:}" >&2; exit 1; }
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
    inside "$root" bash /srv/check/install-test-inside.sh "$1" || return 1
    boot "$root" "$1"
}

# inside ROOT COMMAND…: runs it in the root file system, with mounts of its own, which end with it.
inside() {
    unshare --mount --pid --fork --mount-proc="$1/proc" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv/check TERM=dumb LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive sh -c 'mount --rbind /dev "$1/dev" && exec chroot "$@"' sh "$@"
}

# boot ROOT RELEASE: runs the units under the release's systemd, which a unit of its own ends, with its status.
boot() {
    inside "$1" sh -c 'apt-get install -q -y --no-install-recommends systemd-sysv /srv/check/rekey_*.deb' > "$work/log" 2>&1 ||
        { tail -n 20 "$work/log"; return 1; }
    cp Scripts/install-test-units.sh "$1/srv/check"
    cat > "$1/etc/systemd/system/check.service" <<END
[Unit]
SuccessAction=exit
FailureAction=exit
FailureActionExitStatus=1

[Service]
Type=oneshot
TimeoutStartSec=120
ExecStart=/bin/bash /srv/check/install-test-units.sh
StandardOutput=append:/srv/check/units.log
StandardError=append:/srv/check/units.log
END
    # Memory can be locked and there is a network, as on a machine. Some machines have control groups that newer releases use only if they are
    # told to.
    local status=0
    systemd-nspawn --quiet --register=no --keep-unit --machine "rekey-check-$2" --directory "$1" --system-call-filter=@memlock --network-veth \
        --boot systemd.unit=check.service SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1 < /dev/null > "$work/log" 2>&1 || status=$?
    [ -s "$1/srv/check/units.log" ] || tail -n 20 "$work/log"
    cat "$1/srv/check/units.log"
    return $status
}

failed=()
[ $# -gt 0 ] || set -- bookworm bookworm-backports trixie noble
for name in "$@"; do
    echo "== $name"
    try_release "$name" || failed+=("$name")
done
[ ${#failed[@]} -eq 0 ] || { echo "install-test: FAILED: ${failed[*]}" >&2; exit 1; }
echo "install-test: passed"
