#!/usr/bin/env bash
# Builds the documentation into .build/docs: the catalogue of CipherDB and the documents of Documentation/, with every public symbol of
# CipherDB (and of the modules that it re-exports) and Rekeying. A warning fails it.
set -euo pipefail
cd "$(dirname "$0")/.."
docc=$(command -v docc || xcrun --find docc)
graphs=.build/symbols
catalogue=.build/CipherDB.docc
rm -rf "$graphs" "$catalogue"
mkdir -p "$graphs"

# The directory of a build that is there already, or none.
build=${1:-}
if [ -z "$build" ]; then
    swift build -q
    build=.build/debug
fi
own=()
for module in CCipherSystem CCipherLanes; do
    own+=(-I "Sources/$module/include" -Xcc "-fmodule-map-file=$build/$module.build/module.modulemap")
done
for module in CipherDB Rekeying FMDBCompat; do
    swift symbolgraph-extract -module-name "$module" -I "$build/Modules" -I Sources/CSQLCipher/include -I Sources/CCipherOpenSSL \
        "${own[@]}" \
        -target "$(swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')" \
        -minimum-access-level public -skip-synthesized-members -experimental-allowed-reexported-modules=CipherKeys,CipherSystem,SQLiteFormat,CipherSalvage,CipherBackup \
        -output-dir "$graphs"
done
# FMDB's own names have their meaning from FMDB.
rm -f "$graphs"/FMDBCompat*.json

# article NAME DOCUMENT: a document of the repository as an article; what it links to stays where it is.
article() {
    sed -E 's/\]\((\.\.\/|Documentation\/)?([A-Za-z.]+\/)*[A-Za-z]+\.(md|svg)(#[a-z-]+)?\)/]/g; s/^!\[.*\]$//' "$2" > "$catalogue/$1.md"
}

cp -r Sources/CipherDB/CipherDB.docc "$catalogue"
# Links between the pages lead to files, so that they work in the repository; here they lead to articles. Other documents have no page.
for page in "$catalogue"/*.md; do
    sed -E -e 's#\]\((\.\./)+Documentation/FMDB\.md\)#](doc:ComingFromFMDB)#g' -e 's#\]\((\.\./)+Documentation/Keyring\.md\)#](doc:Keyrings)#g' \
        -e 's#\]\((\.\./)+Documentation/Rekeying\.md\)#](doc:ChangingKeys)#g' -e 's#\]\((\.\./)+SECURITY\.md\)#](doc:ThreatModel)#g' \
        -e 's#\]\(([A-Za-z]+)\.md\)#](doc:\1)#g' -e 's#\]\((\.\./)+[A-Za-z/]+\.md\)#]#g' "$page" > "$page.made"
    mv "$page.made" "$page"
done
article ComingFromFMDB Documentation/FMDB.md
article Keyrings Documentation/Keyring.md
article ChangingKeys Documentation/Rekeying.md
article Performance Documentation/Performance.md
article ThreatModel SECURITY.md
"$docc" convert "$catalogue" --additional-symbol-graph-dir "$graphs" --output-path .build/docs --warnings-as-errors \
    --fallback-bundle-identifier CipherDB --fallback-display-name CipherDB --transform-for-static-hosting
echo "docs: .build/docs; python3 -m http.server -d .build/docs shows it at /documentation/cipherdb"
