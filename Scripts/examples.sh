#!/usr/bin/env bash
# Builds the examples and runs them: the vault is used as somebody at a terminal would, the service under load.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -q --product vault
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
umask 077

vault() { .build/debug/vault "$1" --vault "$directory/vault.db" "${@:2}"; }

# expect WORD COMMAND…: what the command prints has the word in it.
expect() {
    local output
    output=$("${@:2}")
    echo "$output"
    if ! grep -qF -- "$1" <<< "$output"; then
        echo "examples: no \"$1\" in what ${*:2} printed" >&2
        exit 1
    fi
}

# refuse COMMAND…: the command fails.
refuse() {
    if "$@" > "$directory/said" 2>&1; then
        echo "examples: $* did not fail" >&2
        exit 1
    fi
    cat "$directory/said"
}

echo "== vault"
printf 'correct horse battery staple' > "$directory/passphrase"
printf 'a better passphrase' > "$directory/better"
printf 'a third passphrase' > "$directory/third"
printf 'tr0ub4dor&3' > "$directory/secret"
old=(--passphrase-file "$directory/passphrase")
new=(--passphrase-file "$directory/better")
expect "is made" vault create "${old[@]}"
expect "added mail" vault add mail ada@example.org "${old[@]}" --secret-file "$directory/secret" --note "on the phone, too"
expect "added bank" vault add bank ada "${old[@]}" --secret-file "$directory/secret"
expect "bank" vault list "${old[@]}"
expect "ada@example.org" vault list --search phone "${old[@]}"
expect 'tr0ub4dor&3' vault show MAIL "${old[@]}"
if grep -rqF 'tr0ub4dor' "$directory/vault.db" "$directory/vault.db.keyring"; then
    echo "examples: the vault shows a password" >&2
    exit 1
fi
# Somebody reads the code and types it back.
read_and_type() {
    while [ ! -s "$directory/code" ]; do sleep 0.1; done
    head -1 "$directory/code" | tee "$directory/written"
}
read_and_type | vault recovery-code "${old[@]}" --typed-fd 0 > "$directory/code"
expect "opens the vault" cat "$directory/code"
expect "is changed" vault change-passphrase "${old[@]}" --new-passphrase-file "$directory/better"
refuse vault list "${old[@]}"
expect "removed bank" vault remove bank "${new[@]}"
expect "new passphrase" vault recover --code-file "$directory/written" --passphrase-file "$directory/third"
refuse vault list "${new[@]}"
expect "mail" vault list --passphrase-file "$directory/third"

echo "== notes service, and what the package traits report"
swift build -q --build-tests --package-path Examples/NotesService --scratch-path .build-notes
.build-notes/debug/NotesService --load > "$directory/load"
expect "the key was changed after" cat "$directory/load"
expect "every answer was right" cat "$directory/load"
expect "closed its pool" cat "$directory/load"
expect "of the backup has all notes" cat "$directory/load"
swift test -q --skip-build --package-path Examples/NotesService --scratch-path .build-notes
echo "examples: all of them ran"
