#!/usr/bin/env bash
# The secret is in a TPM 2.0, which swtpm simulates; the machine boots with other settings, then the TPM is cleared.
. "$(dirname "$0")/common.sh"
need swtpm tpm2-tools libtss2-tcti-swtpm0
mkdir tpm
swtpm socket --tpm2 --tpmstate "dir=$directory/tpm" --ctrl "type=unixio,path=$directory/tpm/socket.ctrl" \
    --server "type=unixio,path=$directory/tpm/socket" --flags startup-clear,not-need-init --daemon --pid "file=$directory/tpm/pid"
services+=("$(cat tpm/pid)")
export TPM2TOOLS_TCTI=swtpm:path=$directory/tpm/socket
new_vault
recipe "TPM 2.0"
open_again
echo "-- the TPM opens the database"
tpm2_pcrextend 7:sha256=0000000000000000000000000000000000000000000000000000000000000001
lost "PCR 7 has another value"
# No resource manager does it here.
tpm2_flushcontext --loaded-session
tpm2_clear
lost "the TPM is cleared"
