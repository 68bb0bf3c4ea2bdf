#!/usr/bin/env bash
# publish.sh: makes what is published of the last commit in .build-release/published, the tarball and Homebrew's formula for it, and tags
# the commit. The tag is signed by the key that git has (user.signingKey), and attests the tarball: its message has the SHA-256. Nothing
# is pushed; pushed, the tag starts .github/workflows/release.yml, which makes the same tarball and attests where it was made.
#
# publish.sh --tarball: makes only the two files.
# publish.sh --check: publishes from a copy, with a key of its own, and checks what that made.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "publish: $*" >&2; exit 1; }
published=$PWD/.build-release/published
version=$(sed -n 's/.*static let current = "\(.*\)".*/\1/p' Keys/CipherDBVersion.swift)
tarball=CipherDB-$version.tar.gz

make_files() {
    rm -rf "$published"
    mkdir -p "$published"
    git archive --format=tar --prefix="CipherDB-$version/" HEAD | gzip -9n > "$published/$tarball"
    sum=$(sha256sum "$published/$tarball" | cut -d ' ' -f 1)
    sed -e 1d -e "s/@VERSION@/$version/g" -e "s/@SHA256@/$sum/" Packaging/homebrew/rekey.rb > "$published/rekey.rb"
}

publish() {
    [ -z "$(git status --porcelain)" ] || fail "the checkout has changes that are not committed"
    grep -Eq "^## ${version//./\\.}, [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
        fail "CHANGELOG.md has no heading: ## $version, YYYY-MM-DD"
    ! git rev-parse -q --verify "refs/tags/$version" > /dev/null || fail "the tag $version is there already"
    make_files
    git tag -s -m "CipherDB $version" -m "SHA-256 of $tarball: $sum" "$version"
    echo "publish: $published/$tarball, rekey.rb and the tag $version; push it: git push origin $version"
}

check() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    git clone -q --no-tags . "$work/copy"
    # As they are here, committed or not.
    cp --parents Scripts/publish.sh Packaging/homebrew/rekey.rb "$work/copy"
    cd "$work/copy"
    ssh-keygen -q -t ed25519 -N '' -f "$work/key"
    git config user.name check
    git config user.email check@example.org
    git config gpg.format ssh
    git config user.signingKey "$work/key.pub"
    echo "check@example.org $(cat "$work/key.pub")" > "$work/signers"
    git config gpg.ssh.allowedSignersFile "$work/signers"
    # As before the day of a release.
    sed -i "s/^## $version, .*/## $version, not released yet/" CHANGELOG.md
    git add -A
    git commit -q --allow-empty -m "What is published"
    ! Scripts/publish.sh 2> "$work/refused" || fail "a version without a date was published"
    grep -q "has no heading" "$work/refused" || fail "it was refused for another reason: $(cat "$work/refused")"
    sed -i "s/^## $version, .*/## $version, 2026-01-01/" CHANGELOG.md
    ! Scripts/publish.sh 2> "$work/refused" || fail "changes that are not committed were published"
    git commit -q -a -m "The day of the release"
    Scripts/publish.sh > /dev/null
    git tag -v "$version" 2>&1 | tee "$work/tag" | grep -q 'Good "git" signature' || fail "the tag is not signed: $(cat "$work/tag")"
    cd .build-release/published
    sum=$(sha256sum "$tarball" | cut -d ' ' -f 1)
    grep -qx "SHA-256 of $tarball: $sum" "$work/tag" || fail "the tag attests another tarball"
    grep -qx "  sha256 \"$sum\"" rekey.rb || fail "the formula has another SHA-256"
    grep -qx "  url \".*/$version/$tarball\"" rekey.rb || fail "the formula has another address"
    ! grep -n '@[A-Z0-9]*@' rekey.rb || fail "the formula is not filled in"
    # What it builds and needs is what the package has.
    tar -xzf "$tarball" -C "$work"
    (cd "$work/CipherDB-$version" && swift package --disable-sandbox dump-package) > "$work/package"
    product=$(sed -n 's/.*"--product", "\(.*\)"$/\1/p' rekey.rb)
    grep -q "\"name\" : \"$product\"" "$work/package" || fail "the package has no product $product"
    libraries=$(grep -o '"brew" : \[[^]]*\]' <(tr -d '\n' < "$work/package") | grep -o '"[a-z0-9@]*"' | grep -v brew | tr -d '"')
    [ -n "$libraries" ] || fail "the package names no library of Homebrew"
    for library in $libraries; do
        grep -qx "  depends_on \"$library\"" rekey.rb || fail "the formula does not depend on $library"
    done
    if command -v ruby > /dev/null; then
        ruby -c rekey.rb > /dev/null || fail "the formula is no Ruby"
    else
        echo "publish: the formula's Ruby is not checked, as there is no ruby"
    fi
    echo "publish: the tag, the tarball and the formula are right; nothing was built by Homebrew"
}

case ${1:-} in
    --tarball) make_files ;;
    --check) check ;;
    '') publish ;;
    *) fail "unknown: $1" ;;
esac
