#!/usr/bin/env bash
# install-test-inside.sh RELEASE: run by Scripts/install-test.sh in a root file system of the release: installs the package that lies beside
# this script, and uses the command.
set -euo pipefail
cd "$(dirname "$0")"

# has NAME PATTERN: what is read has a match.
has() {
    local text
    text=$(cat)
    grep -qE -- "$2" <<< "$text" || { printf 'install-test: %s: there is no "%s" in:\n%s\n' "$1" "$2" "$text" >&2; exit 1; }
    echo "   $1"
}

# install PACKAGE…: without what they recommend; from the backports where the package is for them.
target=()
[ "$1" = "${1%-backports}" ] || target=(-t "$1")
install() { apt-get install -q -y --no-install-recommends ${target[@]+"${target[@]}"} "$@" > apt.log 2>&1 || { tail -n 20 apt.log; exit 1; }; }

apt-get update -q > apt.log 2>&1 || { tail -n 20 apt.log; exit 1; }
install ./rekey_*.deb
dpkg -s rekey | grep -E '^(Version|Depends|Recommends):'
stat -c %a /usr/bin/rekey | has "other users cannot read the command" '^711$'
setpriv --reuid 65534 --regid 65534 --clear-groups rekey --version | has "other users can run it" '^rekey '
ldd /usr/bin/rekey
if ldd /usr/bin/rekey | grep -iE 'swift|foundation|dispatch|not found'; then exit 1; fi
echo "$(stat -c %s /usr/bin/rekey) bytes; $(rekey --version)"
# Now also the library that computes MACs side by side, where the package recommends one, and the stock shell.
read -ra recommended <<< "$(dpkg-query -W -f '${Recommends}' rekey)"
install sqlcipher "${recommended[@]}"
echo "with what it recommends: $(rekey --version)"

man rekey | has "man rekey" 'rekey-keyring\(1\)'
man rekey change | has "man rekey change" 'REKEY-CHANGE\(1\)'
man rekey-keyring-add | has "man rekey-keyring-add" 'REKEY-KEYRING-ADD\(1\)'
whatis rekey-change | has "whatis" 'Change the key'
# Typed at a terminal.
touch some.db
type_to_bash() { { sleep 1; printf '%b\n' "$1"; sleep 1; printf 'exit\n'; } | script -qec 'bash --rcfile /usr/share/bash-completion/bash_completion -i' /dev/null; }
type_to_bash 'rekey chan\t--help' | has "bash completes a command" 'OVERVIEW: Change the key'
type_to_bash 'rekey keyring ado\t--help' | has "bash completes a command of keyring" 'OVERVIEW: .*keyring'
type_to_bash 'rekey inspect --json som\t' | has "bash completes a file" '"file" ?: ?"some.db"'
type_to_bash 'rekey help exi\t' | has "bash completes a topic of help" '^ *65 +the file or repository is damaged'
zsh -fc 'autoload -Uz compinit; compinit -u -D; print $_comps[rekey]; autoload +X _rekey && whence -w _rekey' | has "zsh loads its completions" '_rekey: function'
echo 'autoload -Uz compinit; compinit -u -D' > .zshrc
type_to_zsh() { { sleep 1; printf '%b\n' "$1"; sleep 1; printf 'exit\n'; } | ZDOTDIR=$PWD script -qec 'zsh -i' /dev/null; }
type_to_zsh 'rekey help exi\t' | has "zsh completes a topic of help" '^ *65 +the file or repository is damaged'
fish -c 'complete -C "rekey keyring ad"' | has "fish completes a command" '^adopt'
fish -c 'complete -C "rekey help exi"' | has "fish completes a topic of help" '^exit-status'

sqlcipher notes.db "CREATE TABLE notes (text); INSERT INTO notes VALUES ('buy stamps');"
for name in first second; do (umask 077; head -c 32 /dev/urandom > $name.key); done
for name in ada bob; do (umask 077; echo "the passphrase of $name" > $name.txt); done
rekey encrypt notes.db --key-file first.key > /dev/null
rekey change notes.db --key-file first.key --new-key-file second.key > /dev/null
status=0
rekey verify notes.db --key-file first.key > /dev/null 2>&1 || status=$?
echo "$status" | has "the old key is refused" '^77$'
rekey verify notes.db --key-file second.key --json | has "encrypt, change, verify" '"ok" ?: ?true'
printf 'PRAGMA key = "x'\''%s'\''";\nSELECT text FROM notes;\n' "$(od -An -v -tx1 second.key | tr -d ' \n')" | sqlcipher notes.db | has "the stock shell reads it" 'buy stamps'
rekey keyring init notes.db --key-file second.key --new-passphrase-file ada.txt > /dev/null
rekey keyring add notes.db --passphrase-file ada.txt --new-passphrase-file bob.txt --label Bob > /dev/null
rekey verify notes.db --keyring notes.db.keyring --passphrase-file bob.txt --json | has "keyring" '"ok" ?: ?true'
if [ -n "${recommended[*]}" ]; then
    LD_DEBUG=files rekey verify notes.db --keyring notes.db.keyring --passphrase-file bob.txt 2>&1 > /dev/null | has "MACs are computed side by side" 'calling init: .*libIPSec_MB'
fi

# What the guide says, on a simulated TPM; also that no other slot is lost with it. A recipe that is skipped fails here.
REKEY=/usr/bin/rekey Scripts/custody/tpm2.sh < /dev/null > tpm.log 2>&1 || { echo "install-test: the TPM's recipe:"; cat tpm.log; exit 1; } >&2
has "keyring with a TPM slot" '^-- the TPM opens the database$' < tpm.log
has "another PCR 7 is refused" '^-- PCR 7 has another value$' < tpm.log
has "a cleared TPM is refused" '^-- the TPM is cleared$' < tpm.log
grep -c '^-- the passphrase still opens the database$' tpm.log | has "the passphrase opens without the TPM" '^2$'

status=0
unshare --mount --propagation unchanged sh -c 'umount /proc && rekey verify none.db' > without-proc 2>&1 || status=$?
echo "$status $(cat without-proc)" | has "without /proc it is refused" '^1 .*/proc'

# once COMMAND…: microseconds until it has ended.
once() { local began=${EPOCHREALTIME/./}; "$@" > /dev/null; echo $((${EPOCHREALTIME/./} - began)); }
for _ in {1..31}; do once rekey --version >> rekey.times; once sqlcipher --version >> shell.times; done
median() { sort -n "$1" | sed -n 16p; }
ours=$(median rekey.times) theirs=$(median shell.times)
echo "start-up: rekey $ours µs, sqlcipher $theirs µs, ratio $((ours / theirs)).$((ours * 10 / theirs % 10)) (medians of 31, by turns)"

apt-get purge -q -y rekey > apt.log 2>&1
find / -xdev -path /proc -prune -o -path '*rekey*' -not -path "$PWD/*" -not -path '/var/cache/man/*' -print | { ! grep .; } && echo "   nothing is left after purge"
