#!/usr/bin/env bash
# The secret is in a file that GnuPG encrypted; the private key is deleted.
. "$(dirname "$0")/common.sh"
need gnupg
export GNUPGHOME=$directory/gnupg
stop() { gpgconf --kill all; }
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key 'vault machine' future-default default never
new_vault
recipe GnuPG
fingerprint=$(gpg --batch --with-colons --list-secret-keys | awk -F: '$1 == "fpr" { print $10; exit }')
gpg --batch --yes --delete-secret-keys "$fingerprint"
lost "the private key is deleted"
