#!/usr/bin/env bash
# The secret is encrypted for a key that does not leave its token, which softhsm2 simulates; the token is deleted.
. "$(dirname "$0")/common.sh"
need softhsm2 opensc openssl
mkdir tokens
echo "directories.tokendir = $directory/tokens" > softhsm2.conf
export SOFTHSM2_CONF=$directory/softhsm2.conf VAULT_PIN=314159 SO_PIN=271828
module=/usr/lib/softhsm/libsofthsm2.so
pkcs11-tool --module $module --init-token --slot-index 0 --label vault --so-pin env:SO_PIN
pkcs11-tool --module $module --token-label vault --login --login-type so --so-pin env:SO_PIN --init-pin --new-pin env:VAULT_PIN
new_vault
recipe "PKCS#11"
VAULT_PIN=000000 lost "the PIN is wrong"
softhsm2-util --delete-token --token vault
lost "the token is deleted"
