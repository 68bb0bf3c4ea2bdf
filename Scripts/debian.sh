# shellcheck shell=bash
# Sourced by the scripts that take packages from Debian or Ubuntu: which mirror, and packages without installing them.

# The field $1 (lower case) of the apt source that the entry "FILE:LINE" $2 names.
source_option() {
    local file=${2%:*}
    case $file in
        *.sources)
            # deb822: the paragraph's continuation lines never hold the fields wanted here.
            awk -v want="$1" 'BEGIN { FS = ": *" } tolower($1) == want { print $2; exit }' "$file" ;;
        *)
            sed -nE "s/^deb[^#]*\[[^]]*$1=([^] ]+).*/\1/p" "$file" | head -n 1 ;;
    esac
}

# One-line apt source for the suite $1, on the mirror from which this machine takes its Debian main.
# Prints nothing where the machine is not a Debian or has no such source.
debian_source() {
    apt-get indextargets 'Created-By: Packages' 'Component: main' 2>/dev/null | awk -v RS='' '
        {
            uri = release = entry = origin = ""
            count = split($0, lines, "\n")
            for (i = 1; i <= count; i++) {
                if (lines[i] ~ /^Repo-URI: /) uri = substr(lines[i], 11)
                if (lines[i] ~ /^Release: /) release = substr(lines[i], 10)
                if (lines[i] ~ /^Sourcesentry: /) entry = substr(lines[i], 15)
                if (lines[i] ~ /^Origin: /) origin = substr(lines[i], 9)
            }
            if (release ~ /[-\/]/ || (origin != "" && origin != "Debian")) next
            print uri, entry
            exit
        }' | while read -r uri entry; do
        local key
        key=$(source_option signed-by "$entry")
        case $key in
            /*) echo "deb [signed-by=$key] $uri $1 main" ;;
            *) echo "deb $uri $1 main" ;;
        esac
    done
}

# use_sources DIRECTORY SOURCE…: sets `elsewhere`, options for an apt that has these sources and its state in DIRECTORY. Neither the
# machine's sources nor its package state are touched.
use_sources() {
    local state=$1
    shift
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    printf '%s\n' "$@" > "$state/sources.list"
    : > "$state/status"
    # apt drops to its own user where it can; the directory may not be that user's to read.
    elsewhere=(-q -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null
        -o Dir::Etc::PreferencesParts=/dev/null -o "Dir::State::Lists=$state/lists" -o "Dir::State::Status=$state/status"
        -o "Dir::Cache=$state/cache" -o APT::Sandbox::User= -o Acquire::Languages=none)
    apt-get "${elsewhere[@]}" update > "$state/log" 2>&1 || { tail -n 3 "$state/log" >&2; return 1; }
}

# describe DIRECTORY INCLUDES LIBRARIES ORIGIN: writes pkg-config's files for a SQLCipher that is not installed.
describe() {
    mkdir -p "$1/pkgconfig"
    # Debian's file has only -I…/include/sqlcipher, so that <sqlcipher/sqlite3.h> would still be the installed engine's.
    cat > "$1/pkgconfig/sqlcipher.pc" <<PC
Name: SQLCipher
Description: SQLCipher from $4
Version: 0
Cflags: -I$2 -I$2/sqlcipher
Libs: -L$3 -lsqlcipher
PC
    # Without -L: libcrypto's would put the system's directory first on the link line, and with it the installed libsqlcipher.
    cat > "$1/pkgconfig/libcrypto.pc" <<PC
Name: OpenSSL-libcrypto
Description: OpenSSL cryptography library
Version: $(pkg-config --modversion libcrypto)
Cflags: $(pkg-config --cflags libcrypto)
Libs: -lcrypto
PC
}
