#!/usr/bin/env bash
# The secret is in a credential that systemd encrypted for this machine; the key of the machine is lost.
. "$(dirname "$0")/common.sh"
command -v systemd-creds > /dev/null || skip "systemd-creds is missing: systemd 250 or later has it"
# Not the machine's own key, which this script loses.
export SYSTEMD_CREDENTIAL_SECRET=$directory/credential.secret
systemd-creds setup > said 2>&1 || skip "systemd-creds makes no key here: $(cat said)"
new_vault
recipe systemd-creds
chmod 600 credential.secret
rm credential.secret
systemd-creds setup
lost "the machine has another key"
