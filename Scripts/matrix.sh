# Sourced in the project's directory by what cannot do without the engines of the matrix: their directories, in `engines`.
engines=(.engines/[0-9]*)
if [ ! -d "${engines[0]}" ]; then
    echo "$(basename "$0" .sh): there are no engines: run make engines" >&2
    exit 1
fi
