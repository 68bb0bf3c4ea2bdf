#!/usr/bin/env bash
# Builds rekey for installation, with the Swift runtime linked in, and puts what is installed into .build-release/stage: the command, its
# man pages and the completions. A stage that is newer than the sources stays.
#
# stage.sh DIRECTORY: builds against the SQLCipher and libipsec-mb that Scripts/release.sh has unpacked there, into DIRECTORY/stage.
# The directory's name is absolute.
set -euo pipefail
cd "$(dirname "$0")/.."
release=${1:-}
stage=${release:-$PWD/.build-release}/stage
if [ -x "$stage/rekey" ] && [ -z "$(find Package.swift Keys Sources Scripts/stage.sh Scripts/manual.py -newer "$stage/rekey" -print -quit)" ]; then
    exit 0
fi
command -v swift > /dev/null || { echo "stage: Swift is missing; run make release as the user who has it" >&2; exit 1; }

# What is linked in does not depend on the day.
argument_parser=1.8.2
# Nor does the binary depend on the directory: it names none of this machine. The compiler writes the length of a path where the sources say
# withoutActuallyEscaping, so they are copied to where their path has one length.
sources=$PWD/.build-release/
sources+=$(printf '%*s' $((160 - ${#sources})) '' | tr ' ' _)
rm -rf "$sources"
mkdir -p "$sources"
cp -a Package.swift Keys Sources Examples Tests "$sources"
engine=$(pkg-config --variable=libdir sqlcipher)/libsqlcipher.so
# A directory for each release: the compiler keeps modules of the headers that it has seen, and takes them for those of another directory.
build=(--package-path "$sources" --scratch-path "$stage-build")
flags=(-c release --product rekey --static-swift-stdlib --disable-local-rpath --only-use-versions-from-resolved-file
    -Xswiftc -gnone -Xcc -g0 -Xswiftc -file-prefix-map -Xswiftc "$sources=." -Xcc "-ffile-prefix-map=$sources=."
    -Xlinker -z -Xlinker now -Xlinker --build-id=none)
if [ -n "$release" ]; then
    export PKG_CONFIG_PATH=$release/pkgconfig
    # Libraries of a newer release need a newer glibc than this machine's.
    flags+=(-Xcc "-I$release/include" -Xlinker --allow-shlib-undefined)
fi
swift package "${build[@]}" resolve
swift package "${build[@]}" resolve swift-argument-parser --version "$argument_parser"
swift build "${build[@]}" "${flags[@]}"

rm -rf "$stage"
mkdir -p "$stage"
# .swift_modhash has hashes that depend on the directory, and is read by the compiler only. Zeros, because the segments stay as they are.
objcopy --dump-section .swift_modhash="$stage/hashes" "$stage-build/release/rekey" "$stage/built"
head -c "$(stat -c %s "$stage/hashes")" /dev/zero > "$stage/zeros"
objcopy --update-section .swift_modhash="$stage/zeros" "$stage/built"
strip --strip-unneeded -R .comment "$stage/built"
rm "$stage/hashes" "$stage/zeros"
if readelf -d "$stage/built" | grep -E 'RPATH|RUNPATH|lib(swift|Foundation|_Foundation|dispatch|BlocksRuntime)'; then
    echo "stage: the command needs libraries of the build machine" >&2
    exit 1
fi

# The installed SQLCipher, under any name: another release's may not run here.
mkdir "$stage/engine"
for number in 0 1 2; do ln -s "$engine" "$stage/engine/libsqlcipher.so.$number"; done
export LD_LIBRARY_PATH=$stage/engine
# Of the sources, so that the man pages do not tell when they were built.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct -- Package.swift Keys Sources Scripts 2> /dev/null || stat -c %Y CHANGELOG.md)
    export SOURCE_DATE_EPOCH
fi
Scripts/manual.py "$stage/built" "$stage/man"
for shell in bash zsh fish; do "$stage/built" --generate-completion-script "$shell" > "$stage/rekey.$shell"; done
rm -r "$stage/engine"
mv "$stage/built" "$stage/rekey"
touch "$stage/rekey"
