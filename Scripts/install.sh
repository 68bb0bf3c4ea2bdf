#!/usr/bin/env bash
# install.sh: installs rekey, its man pages, completions and examples under PREFIX (/usr/local); DESTDIR stands before it, for packages.
# install.sh --uninstall: removes them. STAGE is what is installed, .build-release/stage unless given; ZSHDIR is where zsh looks.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${DESTDIR:-}${PREFIX:-/usr/local}
zsh=$root/${ZSHDIR:-share/zsh/site-functions}
bash=$root/share/bash-completion/completions
fish=$root/share/fish/vendor_completions.d
man=$root/share/man/man1
examples=$root/share/doc/rekey/examples

if [ "${1:-}" = --uninstall ]; then
    rm -f "$root/bin/rekey" "$man/rekey.1" "$man"/rekey-*.1 "$bash/rekey" "$zsh/_rekey" "$fish/rekey.fish" "$examples"/rekey-verify@.{service,timer} "$examples/rekey-backup@.service"
    exit 0
fi
stage=${STAGE:-.build-release/stage}
install -d "$root/bin" "$man" "$bash" "$zsh" "$fish" "$examples"
# Nobody but root can read it: so the kernel keeps the memory of the process from other processes of its user from the start on.
install -m 711 "$stage/rekey" "$root/bin/rekey"
install -m 644 "$stage"/man/*.1 "$man"
# A file that is sourced has no interpreter of its own.
sed '1{/^#!/d}' "$stage/rekey.bash" > "$bash/rekey"
chmod 644 "$bash/rekey"
install -m 644 "$stage/rekey.zsh" "$zsh/_rekey"
install -m 644 "$stage/rekey.fish" "$fish/rekey.fish"
install -m 644 Packaging/systemd/rekey-verify@.timer "$examples"
for unit in rekey-verify@.service rekey-backup@.service; do
    sed "s|/usr/bin/rekey|${PREFIX:-/usr/local}/bin/rekey|" "Packaging/systemd/$unit" > "$examples/$unit"
    chmod 644 "$examples/$unit"
done
echo "install: $root/bin/rekey"
