# For the scripts of this directory, which source it: a database whose keyring has a slot of a person, and what they check.
#
# A recipe is a section of Documentation/HowTo/KeyCustody.md. Its blocks of commands are run as they stand there; the last one opens
# the database. A recipe that cannot be run here ends with status 77.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
page=$root/Documentation/HowTo/KeyCustody.md

skip() { echo "custody: skipped: $*"; exit 77; }
fail() { echo "custody: FAILED: $*" >&2; exit 1; }

# need PACKAGE…: installs what is missing of Debian's packages, where that is possible.
need() {
    command -v dpkg-query > /dev/null || skip "this is not Debian, which has the parts: $*"
    local package missing=()
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] || skip "missing, and only root can install them: ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" > "$directory/apt.log" 2>&1 \
        || skip "could not be installed: ${missing[*]}"
}

# The blocks of commands of a section, with a line between them that no command is.
blocks() {
    awk -v section="## $1" '
        /^## / { here = $0 == section }
        here && /^```$/ && inside { inside = 0; print "\f" }
        inside { print }
        here && /^```bash$/ { inside = 1 }
    ' "$page"
}

# recipe SECTION: runs its commands.
recipe() {
    section=$1
    local commands
    commands=$(blocks "$section" | tr -d '\f')
    [ -n "$commands" ] || fail "KeyCustody.md has no section $section"
    echo "$commands"
    bash -euo pipefail -c "$commands" < /dev/null
    [ ! -e machine.secret ] || fail "machine.secret is still there"
}

# Runs the last block of the section, which opens the database.
open_again() {
    local commands
    commands=$(blocks "$section" | awk 'BEGIN { RS = "\f\n" } NF { last = $0 } END { print last }')
    [[ "$commands" = *"rekey verify vault.db"* ]] || fail "the last block of $section does not open the database"
    bash -euo pipefail -c "$commands" < /dev/null
}

# lost WHAT: the part is lost, so the slot opens nothing with exit status 1, changes nothing and says which command failed; the other slot
# opens.
lost() {
    echo "-- $1"
    local before status=0
    before=$(sha256sum vault.db vault.db.keyring)
    open_again > said 2>&1 || status=$?
    cat said
    [ "$status" -ne 0 ] || fail "$1: the database still opens"
    [ "$status" -eq 1 ] || fail "$1: the exit status is $status"
    grep -qE 'command .*: ended with status [1-9]' said || fail "$1: the error does not name the command"
    [ "$before" = "$(sha256sum vault.db vault.db.keyring)" ] || fail "$1: a file was changed"
    rekey verify vault.db --keyring vault.db.keyring --passphrase-file ada.txt > said || fail "$1: the other slot does not open"
    echo "-- the passphrase still opens the database"
}

# Ends the services that the script started, and removes everything.
services=()
clean_up() {
    local status=$?
    [ ${#services[@]} -eq 0 ] || kill "${services[@]}" 2> /dev/null || true
    [ "$(type -t stop)" != function ] || stop
    cd /
    rm -rf "$directory"
    exit "$status"
}
umask 077
directory=$(mktemp -d "${TMPDIR:-/tmp}/custody-XXXXXX")
trap clean_up EXIT

if [ -z "${REKEY:-}" ]; then
    (cd "$root" && swift build -q --product rekey)
    REKEY=$root/.build/debug/rekey
fi
PATH=$(dirname "$REKEY"):$PATH
cd "$directory"

# new_vault: the state in which each recipe begins.
new_vault() {
    command -v sqlcipher > /dev/null || skip "the shell sqlcipher is missing: run make setup"
    sqlcipher vault.db "CREATE TABLE notes (text); INSERT INTO notes VALUES ('buy stamps');"
    echo "correct horse battery staple" > ada.txt
    bash -euo pipefail -c "$(blocks "Before each recipe" | tr -d '\f')" > said || fail "$(cat said)"
}
