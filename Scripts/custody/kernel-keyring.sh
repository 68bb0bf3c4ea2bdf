#!/usr/bin/env bash
# The secret is in the kernel's memory; it expires.
. "$(dirname "$0")/common.sh"
need keyutils
keyctl show > /dev/null 2>&1 || skip "this system lets its processes have no kernel keyring"
new_vault
# Twice at once on one machine would take each other's key.
if keyctl search @u user vault-machine > /dev/null 2>&1; then skip "the kernel has a key vault-machine already"; fi
stop() { keyctl purge user vault-machine > said 2>&1 || true; }
# A key that this session possesses, also where no login gave it one.
keyctl link @u @s 2> /dev/null || true
recipe "Kernel keyring"
keyctl timeout "$(keyctl search @u user vault-machine)" 1
sleep 2
lost "the key has expired"
