#!/usr/bin/env bash
# The secret is in a file that age encrypted; the identity is lost.
. "$(dirname "$0")/common.sh"
need age
new_vault
recipe age
rm machine.identity
lost "the identity is gone"
age-keygen -o machine.identity 2> said
lost "the identity is another one"
