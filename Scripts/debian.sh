# Sourced by setup.sh and engines.sh: what the machine's own apt configuration says about its Debian mirror.

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
