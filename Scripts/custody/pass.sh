#!/usr/bin/env bash
# The secret is in a password store; its entry is removed, then the private key of the store.
. "$(dirname "$0")/common.sh"
need pass gnupg
export GNUPGHOME=$directory/gnupg PASSWORD_STORE_DIR=$directory/store
stop() { gpgconf --kill all; }
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key 'vault machine' future-default default never
pass init 'vault machine'
new_vault
recipe pass
cp -a store kept
pass rm --force vault/machine
lost "the entry is removed"
rm -rf store
mv kept store
fingerprint=$(gpg --batch --with-colons --list-secret-keys | awk -F: '$1 == "fpr" { print $10; exit }')
gpg --batch --yes --delete-secret-keys "$fingerprint"
lost "the private key is deleted"
