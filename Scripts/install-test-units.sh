#!/usr/bin/env bash
# Run by Scripts/install-test.sh in a root file system, by a unit of the systemd that was booted there: uses the units rekey-verify@ as their
# comments say.
set -euo pipefail
cd "$(dirname "$0")"
fail() { echo "install-test: units: $*" >&2; journalctl --no-pager --quiet --unit 'rekey-verify@*' | tail -n 20 >&2; exit 1; }
unit=rekey-verify@app.service
metrics=/var/lib/rekey-verify/app/rekey.prom
said() { journalctl --sync; journalctl --no-pager --quiet --output cat --unit "$unit"; }

cp /usr/share/doc/rekey/examples/rekey-verify@.* /etc/systemd/system
warnings=$(systemd-analyze verify "$unit" rekey-verify@app.timer 2>&1)
if grep -F rekey-verify <<< "$warnings"; then fail "systemd-analyze verify"; fi
echo "   systemd-analyze verify has no objection"
# Of 100, for a unit without any protection.
systemd-analyze security --threshold=10 "$unit" > security || { cat security; fail "systemd-analyze security"; }
sed -n 's/^→ Overall/   systemd-analyze security: overall/p' security

useradd --system app
install -d -o app -g app -m 700 /var/lib/app /srv/app
sqlcipher /var/lib/app/vault.db "PRAGMA journal_mode = WAL; CREATE TABLE notes (text); INSERT INTO notes VALUES ('buy stamps');" > /dev/null
(umask 077; printf 'the passphrase of app' > app.txt)
rekey encrypt /var/lib/app/vault.db --passphrase-file app.txt > /dev/null
chown app:app /var/lib/app/vault.db*
mkdir -p /etc/credstore.encrypted
systemd-creds encrypt --name=passphrase app.txt /etc/credstore.encrypted/app.passphrase 2> /dev/null

systemctl start "$unit" || fail "a sound database"
grep -qF 'rekey_database_verified{path="/var/lib/app/vault.db"} 1' "$metrics" || fail "no metrics"
[ "$(stat -c '%U %a' "$metrics")" = "app 644" ] || fail "the metrics are not the user's, or not to be read by others"
echo "   the service verifies a database by an encrypted credential"

# What the service may do, as the kernel has it.
mkdir -p /etc/systemd/system/$unit.d
cat > /etc/systemd/system/$unit.d/check.conf <<'END'
[Service]
ExecStartPre=/bin/grep -E ^(CapEff|CapBnd|NoNewPrivs|Seccomp): /proc/self/status
ExecStartPre=/bin/sh -c 'for file in /srv/app/x /etc/x /var/lib/x /var/lib/rekey-verify/x; do ! touch $file || exit 1; done'
ExecStartPre=/bin/sh -c '! test -e /proc/sys && ! grep -v -e lo: -e Inter -e face /proc/self/net/dev'
END
systemctl daemon-reload
systemctl start "$unit" || fail "the service can write elsewhere, or has a network"
for line in 'CapEff:	0000000000000000' 'CapBnd:	0000000000000000' 'NoNewPrivs:	1' 'Seccomp:	2'; do
    said | grep -qxF "$line" || fail "there is no \"$line\""
done
if said | grep -F 'proceeding without'; then fail "systemd could not apply a directive"; fi
echo "   it has no capabilities and no network, and cannot write elsewhere"
rm -r /etc/systemd/system/$unit.d
systemctl daemon-reload

# Each change is stored, until the service is stopped.
cp /usr/share/doc/rekey/examples/rekey-backup@.service /etc/systemd/system
warnings=$(systemd-analyze verify rekey-backup@app.service 2>&1)
if grep -F rekey-backup <<< "$warnings"; then fail "systemd-analyze verify"; fi
systemctl daemon-reload
systemctl start rekey-backup@app.service
for _ in {1..100}; do
    if grep -qs '^rekey_backup_generation{.*} 1' /var/lib/rekey-backup/app/backup.prom; then break; fi
    sleep 0.2
done
systemctl stop rekey-backup@app.service
systemctl show --property Result rekey-backup@app.service | grep -qx Result=success || fail "the end of the backup"
rekey backups check /var/lib/rekey-backup/app/vault.backups --passphrase-file app.txt | grep -q '^proved: *1,' || fail "the backup"
echo "   a service backs the database up until it is stopped"

# As at three in the night.
mkdir -p /etc/systemd/system/rekey-verify@app.timer.d
printf '[Timer]\nOnActiveSec=1s\nRandomizedDelaySec=0\nAccuracySec=100ms\n' > /etc/systemd/system/rekey-verify@app.timer.d/soon.conf
rm "$metrics"
systemctl daemon-reload
systemctl enable --quiet --now rekey-verify@app.timer
for _ in {1..50}; do
    if grep -qs '^rekey_check_complete 1' "$metrics"; then break; fi
    sleep 0.2
done
grep -qF 'rekey_database_verified{path="/var/lib/app/vault.db"} 1' "$metrics" || fail "the timer does not start the service"
systemctl show --property NextElapseUSecRealtime rekey-verify@app.timer | grep -qE '=.* 03:00:00 ' || fail "the timer does not start it at three"
echo "   the timer starts it, and will each night"

printf 'damage' | dd of=/var/lib/app/vault.db bs=1 seek=2000 conv=notrunc status=none
! systemctl start "$unit" 2> /dev/null || fail "a damaged database"
systemctl show --property ExecMainStatus "$unit" | grep -qx ExecMainStatus=65 || fail "the status of a damaged database"
grep -qF 'rekey_database_verified{path="/var/lib/app/vault.db"} 0' "$metrics" || fail "the metrics of a damaged database"
echo "   a damaged database fails the service with status 65"
