#!/usr/bin/env bash
# deb.sh [RELEASE]: builds the package rekey for a release of Debian or Ubuntu, this machine's unless named, against the libraries of
# that release: .build-release/rekey_VERSION_ARCHITECTURE.deb. DEBFULLNAME and DEBEMAIL name the maintainer. Root is not needed.
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/debian.sh
. Scripts/release.sh
for tool in dpkg-deb:dpkg dpkg-shlibdeps:dpkg-dev; do
    command -v "${tool%:*}" > /dev/null || { echo "deb: ${tool%:*} is missing: apt-get install ${tool#*:}" >&2; exit 1; }
done
name=${1:-$(own_release)}
name_release "$name"
directory=$PWD/.build-release/$name
unpack_release "$name" "$directory"
engine=$(sed -n 's/^Version: //p' "$directory"/packages/libsqlcipher[0-9]*/DEBIAN/control)
if [ $# = 0 ]; then reason="this machine's release, whatever is installed here; RELEASE=… names another"; else reason="as RELEASE says"; fi
echo "deb: for SQLCipher $engine of $name: $reason" >&2
case $engine in 3.*) echo "deb: this SQLCipher writes format 3 and opens no format 4; RELEASE=$name-backports does both" >&2 ;; esac
Scripts/stage.sh "$directory"

upstream=$(sed -n 's/.*static let current = "\(.*\)".*/\1/p' Keys/CipherDBVersion.swift)
version=$upstream-1~$label
maintainer="${DEBFULLNAME:-CipherDB authors} <${DEBEMAIL:-cipherdb@users.noreply.github.com}>"
# One date for all files, so that two builds of a commit are one package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022

root=$directory/root
rm -rf "$root"
STAGE=$directory/stage DESTDIR=$root PREFIX=/usr ZSHDIR=share/zsh/vendor-completions Scripts/install.sh > /dev/null
documents=$root/usr/share/doc/rekey
install -d "$documents" "$root/DEBIAN"
install -m 644 Packaging/copyright "$documents/copyright"
install -D -m 644 Packaging/lintian-overrides "$root/usr/share/lintian/overrides/rekey"
gzip -9n < CHANGELOG.md > "$documents/changelog.gz"
gzip -9n > "$documents/changelog.Debian.gz" <<END
rekey ($version) ${name%-backports}; urgency=medium

  * Package of CipherDB $upstream.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
gzip -9n "$root"/usr/share/man/man1/*.1

# The libraries that the command needs, by the names and the symbols of the release's packages.
work=$directory/shlibs
mkdir -p "$work/debian"
printf 'Source: rekey\n\nPackage: rekey\nArchitecture: any\n' > "$work/debian/control"
from=()
for package in "$directory"/packages/*; do from+=("-S$package"); done
depends=$(cd "$work" && dpkg-shlibdeps --warnings=1 -O "${from[@]}" -e"$root/usr/bin/rekey" | sed -n 's/^shlibs:Depends=//p')
size=$(du -k --apparent-size -s "$root" | cut -f1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$(dpkg --print-architecture)/" -e "s/@MAINTAINER@/$maintainer/" \
    -e "s/@SIZE@/$size/" -e "s/@DEPENDS@/$depends/" -e "s/@RECOMMENDS@/$lanes/" -e '/^Recommends: $/d' \
    Packaging/control > "$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
find "$root" -depth -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
package=.build-release/rekey_${version}_$(dpkg --print-architecture).deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" > /dev/null
echo "deb: $package"
