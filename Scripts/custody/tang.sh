#!/usr/bin/env bash
# The secret is encrypted with the help of a server of the network; the server is gone, then it has other keys.
. "$(dirname "$0")/common.sh"
need clevis tang tang-common socat curl
tangd=$(dpkg -L tang tang-common | grep '/tangd$')
keygen=$(dpkg -L tang tang-common | grep '/tangd-keygen$')
mkdir tang
"$keygen" "$directory/tang"
port=$((20000 + RANDOM % 10000))
serve() {
    socat "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork" "EXEC:$tangd $directory/tang" 2> tang.log &
    server=$!
    services+=("$server")
    local tries=0
    until curl --silent --fail --output said "http://127.0.0.1:$port/adv"; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || fail "tang does not answer: $(cat tang.log)"
        sleep 0.1
    done
}
serve
export TANG=http://127.0.0.1:$port
new_vault
recipe "Network-bound: clevis and tang"
kill "$server"
wait "$server" || true
lost "the server is gone"
rm tang/*.jwk
"$keygen" "$directory/tang"
serve
lost "the server has other keys"
