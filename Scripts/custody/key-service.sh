#!/usr/bin/env bash
# The secret is in Barbican, OpenStack's key manager, over HTTP; it is deleted there, then the service is gone.
. "$(dirname "$0")/common.sh"
need python3-barbican curl jq
port=$((30000 + RANDOM % 2000))
cat > barbican.conf << CONFIGURATION
[DEFAULT]
sql_connection = sqlite:///$directory/barbican.sqlite
db_auto_create = True
host_href = http://127.0.0.1:$port
[database]
connection = sqlite:///$directory/barbican.sqlite
[simple_crypto_plugin]
kek = $(head -c 32 /dev/urandom | base64 --wrap 0)
[oslo_policy]
enforce_scope = False
CONFIGURATION
# Debian's Python has the package.
/usr/bin/python3 "$root/Scripts/custody/key-service.py" "$directory" "$port" > barbican.log 2>&1 &
server=$!
services+=("$server")
tries=0
until curl --silent --output said "http://127.0.0.1:$port/v1/"; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "Barbican does not answer: $(tail -n 5 barbican.log)"
    sleep 0.2
done
export BARBICAN=http://127.0.0.1:$port
printf 'X-Project-Id: vault\nX-User-Id: machine\nX-Roles: creator\n' > token.header
new_vault
recipe "A key service over HTTP"
curl --silent --show-error --fail --header @token.header --request DELETE "$(dirname "$(cat machine.url)")"
lost "the secret is deleted"
kill "$server"
wait "$server" || true
lost "the service is gone"
