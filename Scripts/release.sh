# shellcheck shell=bash
# Sourced, with debian.sh, by what makes or tries packages for a release of Debian or Ubuntu.

# The release that this machine runs, by its name.
own_release() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

# name_release NAME: sets `label`, the release's part of a package's version, and `sources`, its lines for apt.
name_release() {
    case $1 in
        bookworm) label=debian12 ;;
        bookworm-backports) label=debian12+bpo ;;
        trixie) label=debian13 ;;
        noble) label=ubuntu24.04 ;;
        *) echo "release: there is no package for '$1', only for bookworm, bookworm-backports, trixie and noble" >&2; return 1 ;;
    esac
    sources=()
    if [[ $label = ubuntu* ]]; then
        local mirror=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu} key=/usr/share/keyrings/ubuntu-archive-keyring.gpg
        [ -f "$key" ] || { echo "release: Ubuntu's key is missing: apt-get install ubuntu-keyring" >&2; return 1; }
        sources=("deb [signed-by=$key] $mirror $1 main universe" "deb [signed-by=$key] $mirror $1-updates main universe")
        return
    fi
    local suite
    for suite in "${1%-backports}" "$1"; do sources+=("$(debian_source "$suite")"); done
    [ -n "${sources[0]}" ] || { echo "release: no Debian mirror in this machine's apt configuration" >&2; return 1; }
    [ "$1" != "${1%-backports}" ] || unset 'sources[1]'
}

# depends PACKAGE PATTERN: the first dependency of the package that matches.
depends() { apt-cache "${elsewhere[@]}" depends "$1" | sed -nE "s/ *Depends: ($2)$/\1/p" | head -n 1; }

# unpack_release NAME DIRECTORY: unpacks what the release links rekey against, with the metadata by which dpkg-shlibdeps names packages;
# sets `lanes`, the package of its libipsec-mb, if that is used. The directory's name is absolute.
# The newest version of the suite counts, as with apt-get install -t.
unpack_release() {
    local name=$1 directory=$2 engine crypto packages
    rm -rf "$directory/packages" "$directory/apt" "$directory/include"
    use_sources "$directory/apt" "${sources[@]}" || return 1
    elsewhere+=(-o "APT::Default-Release=$name")
    engine=$(depends libsqlcipher-dev 'libsqlcipher[0-9]+')
    crypto=$(depends "$engine" 'libssl[0-9t]+')
    packages=(libsqlcipher-dev "$engine" "$crypto" libc6 libgcc-s1 libstdc++6)
    lanes=
    if [ "$(dpkg --print-architecture)" = amd64 ]; then
        lanes=$(depends libipsec-mb-dev 'libipsec-mb[0-9]+')
        packages+=(libipsec-mb-dev)
    fi
    mkdir -p "$directory/packages" "$directory/include"
    (cd "$directory/apt" && apt-get "${elsewhere[@]}" download "${packages[@]}") >> "$directory/apt/log" 2>&1 ||
        { tail -n 3 "$directory/apt/log" >&2; return 1; }
    local package
    for package in "$directory"/apt/*.deb; do
        dpkg-deb -R "$package" "$directory/packages/$(dpkg-deb -f "$package" Package)" || return 1
    done
    [ -z "$lanes" ] || ln -s "$directory/packages/libipsec-mb-dev/usr/include/intel-ipsec-mb.h" "$directory/include"
    # The MACs of SQLCipher 3 are of SHA-1, which is not computed by it.
    if [ "$engine" = libsqlcipher0 ]; then lanes=; fi
    local triplet
    triplet=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
    # The library is in a package of its own, and the link to it must lead there.
    ln -sf "$directory/packages/$engine/usr/lib/$triplet"/libsqlcipher.so.*.* "$directory/packages/libsqlcipher-dev/usr/lib/$triplet/libsqlcipher.so"
    describe "$directory" "$directory/packages/libsqlcipher-dev/usr/include" \
        "$directory/packages/libsqlcipher-dev/usr/lib/$triplet" "$name"
}
