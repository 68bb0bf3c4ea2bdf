#!/usr/bin/env bash
# usage: Scripts/test.sh [check | torture]
#
# Without a word: lint, one optimisation-free build, all tests on each engine of .engines (or on the system's where there is none),
# the manual and the documentation. ENGINE=4.6.1 takes one engine, ONLY=Suite a filter of `swift test`.
# Where all tests of an engine have passed and nothing has changed since, only those run again that may come out differently
# (by_chance); AGAIN=1, and CI, run all.
# `check`: the build and the tests that end soon, on the system's engine. `torture`: the build and all tests on each engine, with what the
# environment asks for (Scripts/torture.sh), on the disk. Any warning fails the run.
#
# One build serves every engine: it has the header of the system's, and each run is given another library to load. A second one of
# the library alone has the oldest header, so that what is called is there.
set -uo pipefail
cd "$(dirname "$0")/.."
build=.build-test
# Between the parts of a job.
separator=$'\x1f'
# The tests' own output is read for failures.
export NO_COLOR=1
results=$build/results
# The results of the last whole run that passed, of each name, and what it was a run of.
passed=$build/passed
# Not debug: ArgumentParser looks at each command's declarations then, at each start of `rekey`, for longer than most tests take.
flags=(-c release --scratch-path "$build" -Xswiftc -Onone -Xswiftc -enable-testing -Xswiftc -DFAULTS)
# What has no engine, and is run once.
without_engine='^CipherKeysTests\.|^CipherPagesTests\.|^SnippetTests\.|ArgumentTests'
# Not in `check`: processes that are killed, traced or made to fail, load, damage, and what derives much.
long='KillTests|CrashStateTests|FaultTests|PoolStressTests|killedMigrationResumes|\.DamageTests|RecoverTests|MigrateTests'
long+='|KeyringCommandTests|SecretLeakTests|InteroperabilityTests|PassphraseDerivationTests|costlyPassphrasesNeedSlotNumber|lastValueOfRandomCommits'
long+='|EndingTests|ChangeTests|DatabaseFileTests|KeyringVectorTests|KeyProbeTests|ForeignEngineTests'
long+='|ServiceRotationTests|WALResetLoadTests|FormatMatrixTests|ChangeInPlaceTests|ForeignFileTests|signalLeavesFileUnchanged|customKDFIterationsMustBeSpecified|calibrationPrints'
# What chance, or a race of threads or processes, takes part in.
by_chance='FormatMatrixTests|DamageTests|FlippedBitTests|RecoverTests|KillTests|CrashStateTests|ForeignFileTests|MigrationTests|ObservationTests'
by_chance+='|PoolTests|QueueTests|PoolStressTests|PoolRekeyTests|PoolDeadlockTests|RekeyTests|RekeyWaitingTests|SampleProgramTests'
by_chance+='|ServiceRotationTests|WALResetLoadTests'
# What depends on whose functions compute the MACs of pages: run once more with the engine's own.
page_cryptography='DamageWatchTests|SilentDamageTests|BlobTests|RecompiledStatementTests|InteroperabilityTests|\.RekeyTests'
by_chance_without_engine='ArgumentTests|KeyringMutationTests|RandomnessTests|KeyringTests'

# One run of the tests, and where its results go. A run of some tests has the results of the last whole one beside its own.
# job NAME FILTER SKIP ENGINE [FILTER OF SOME]
job() {
    local name=$1 filter=$2 skip=$3 engine=$4 began=$SECONDS
    if [ -n "${5:-}" ]; then
        filter=$5
        cp "$passed/$name.xml" "$results/$name.xml"
        cp "$passed/$name.date" "$results/$name.date"
        set -- "$name.again"
    fi
    if [ -n "$engine" ] && ! is_system "$engine"; then
        local libraries
        libraries=$(Scripts/with-engine.sh --libraries "$engine") || { echo "1 0" > "$results/$name.status"; return; }
        export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} CIPHERDB_OTHER_HEADER=1
    fi
    if [ -n "$engine" ]; then export CIPHERDB_ENGINE=$engine; fi
    if [[ "$name" = own-cryptography-* ]]; then export CIPHERDB_PAGE_CRYPTOGRAPHY=engine; fi
    local tests=(swift test -q "${flags[@]}" --skip-build --disable-xctest)
    # Not by `swift test`, which reads the package again for each environment, and lets no second run in.
    if [ "$(uname)" = Linux ]; then tests=("$build/release/CipherDBPackageTests.xctest" --testing-library swift-testing); fi
    # All at once, as is usual, a test that waits for its turn runs into its own limits of time.
    "${tests[@]}" --experimental-maximum-parallelization-width 4 --filter "$filter" --skip "$skip" --xunit-output "$results/$1.xml" > "$results/$name.log" 2>&1
    local status=$?
    echo "$status $((SECONDS - began))" > "$results/$name.status"
    if [ "$status" -ne 0 ]; then
        rm -f "$passed/$name".*
        grep -E '^✘|error:|Fatal' "$results/$name.log"
        tail -n 5 "$results/$name.log"
        echo "test: $name ended with status $status; all that it said is in $results/$name.log"
    fi
}

# Whether an engine of .engines is the very file that the system has.
is_system() {
    local library
    library=$(pkg-config --variable=libdir sqlcipher 2> /dev/null)/libsqlcipher.so
    [ -f "$library" ] && cmp -s "$library" ".engines/$1/lib/libsqlcipher.so"
}

if [ "${1:-}" = --job ]; then
    shift
    # In one word for xargs.
    IFS=$separator read -r name filter skip engine share some <<< "$1"
    export CIPHERDB_SHARE=$share
    job "$name" "$filter" "$skip" "$engine" "$some"
    exit 0
fi

failed=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# run NAME COMMAND…: shows the command's output and remembers a failure.
run() {
    local name=$1 began=$SECONDS
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$log"
    local status=${PIPESTATUS[0]}
    if [ "$status" -ne 0 ]; then
        failed+=("$name")
    elif grep -qE '^[^ ].*: warning: |^warning: ' "$log"; then
        echo "test: there are warnings" >&2
        failed+=("$name (warnings)")
        status=1
    fi
    echo "   $((SECONDS - began)) s"
    return "$status"
}

# unless_unchanged NAME STAMP PLACES… -- COMMAND…: a run whose result stands while none of the files in these places changes.
unless_unchanged() {
    local name=$1 stamp=$build/$2.stamp places=()
    shift 2
    while [ "$1" != -- ]; do places+=("$1"); shift; done
    shift
    if [ -f "$stamp" ] && [ -z "$(find "${places[@]}" -newer "$stamp" -type f 2> /dev/null | head -n 1)" ]; then
        echo "== $name: passed before, and nothing that it reads has changed"
        return
    fi
    touch "$stamp.begun"
    if run "$name" "$@"; then mv "$stamp.begun" "$stamp"; fi
}

# What a run's result is made of: the files here, the engines, the compiler, the libraries and what is asked of the tests.
state() {
    {
        swift --version
        uname -a
        env | grep '^CIPHERDB_'
        find . \( -name .git -o -name '.build*' \) -prune -o -type f -exec cksum {} +
        if [ "$(uname)" = Linux ]; then ldd "$build/release/rekey" | awk '$2 == "=>" {print $3}' | xargs cksum; fi
    } 2> /dev/null | LC_ALL=C sort | cksum
}

finish() {
    if [ ${#failed[@]} -gt 0 ]; then
        printf 'test: FAILED: %s\n' "${failed[@]}" >&2
        exit 1
    fi
    echo "test: everything passed in $SECONDS s, $built s of them building"
    exit 0
}

mkdir -p "$results" "$passed"
rm -f "$results"/*
if [ -n "${ENGINE:-}" ] && [ ! -d ".engines/$ENGINE" ]; then
    echo "test: there is no engine $ENGINE in .engines: run make engines" >&2
    exit 1
fi

if [ -z "${1:-}" ]; then
    if python3 -c 'import tomllib' 2> /dev/null; then
        run "places of the mutants" Scripts/mutants.py --check
    else
        echo "== places of the mutants: not looked for, Python 3.11 or later is missing"
    fi
    run "picture of the modules" Scripts/modules.py --check
    run words Scripts/words.py
    run "list of messages" Scripts/messages.py --check
    run lint swift format lint --strict --recursive --parallel Package.swift Keys Sources Tests Examples Benchmarks
fi

began=$SECONDS
# -q leaves the warnings and the errors.
run "build" swift build -q --build-tests "${flags[@]}" || finish
# The newest first: what is independent of the engine runs with it.
engines=()
for directory in .engines/[0-9]*; do
    if [ -d "$directory" ]; then engines+=("$(basename "$directory")"); fi
done
if [ ${#engines[@]} -gt 0 ]; then
    engines=($(printf '%s\n' "${engines[@]}" | sort -t. -k1,1nr -k2,2nr -k3,3nr))
fi
if [ -z "${1:-}" ] && [ -z "${ONLY:-}" ] && [ ${#engines[@]} -gt 0 ]; then
    oldest=${engines[${#engines[@]} - 1]}
    for target in FMDBCompat Rekeying; do
        run "build of $target with the header of SQLCipher $oldest" Scripts/with-engine.sh "$oldest" \
            swift build -q --target "$target" --scratch-path ".build-$oldest"
    done
fi
built=$((SECONDS - began))

if [ -n "${ENGINE:-}" ]; then
    engines=("$ENGINE")
elif [ "${1:-}" = check ]; then
    engines=()
elif [ ${#engines[@]} -eq 0 ]; then
    echo "test: ******** there are no engines of the matrix, only the system's: run make engines ********" >&2
fi
# What is run: all with an engine, then what has none; or what ONLY chooses.
filter=${ONLY:-.}
skip=$without_engine
[ "${1:-}" != check ] || skip+="|$long"
[ -z "${ONLY:-}" ] || skip='^$'
# Whether each run is one of all its tests, whose result may stand for the next.
whole=
[ -n "${1:-}${ONLY:-}" ] || whole=$(state)
jobs=()
number=0
# add NAME FILTER SKIP ENGINE SHARE BY-CHANCE
add() {
    local some=
    if [ -n "$whole" ] && [ -z "${AGAIN:-}${CI:-}" ] && [ "$(cat "$passed/$1.state" 2> /dev/null)" = "$whole $5" ]; then
        some=$6
    fi
    jobs+=("$1$separator$2$separator$3$separator$4$separator$5$separator$some")
    # A run of some of the tests says nothing about the rest, and leaves the remembered result of all.
    [ -z "$whole" ] || rm -f "$passed/$1.state"
    shares+=("$5")
}
shares=()
for engine in ${engines[@]+"${engines[@]}"}; do
    add "$engine" "$filter" "$skip" "$engine" "$number/${#engines[@]}" "$by_chance"
    number=$((number + 1))
done
if [ ${#jobs[@]} -eq 0 ]; then add "the-system's-engine" "$filter" "$skip" "" 0/1 "$by_chance"; fi
if [ -z "${ONLY:-}" ]; then
    nothing='^$'
    [ "${1:-}" != check ] || nothing=$long
    add without-an-engine "$without_engine" "$nothing" "" 0/1 "$by_chance_without_engine"
    # The newest, whose codec has the sign of damage, and one whose pager has it.
    for engine in ${engines[@]+"${engines[@]}"}; do
        case $engine in 4.19.0 | 4.6.1) add "own-cryptography-$engine" "$page_cryptography" "$skip" "$engine" 0/1 "$by_chance" ;; esac
    done
fi
names=()
for job in "${jobs[@]}"; do names+=("${job%%"$separator"*}"); done
echo "== tests: ${names[*]}"
tested=$SECONDS
# One more than processors: they wait for each other's processes.
side_by_side=3
# Where a failure by chance costs most, limits of time are met best by one alone.
if [ "$(uname)" != Linux ] || [ -n "${CI:-}" ]; then side_by_side=1; fi
# In memory where there is room: a process that is killed loses nothing there either. `make torture` takes the disk.
memory=$(df -Pm /dev/shm 2> /dev/null | awk 'NR == 2 {print $4}')
if [ "${1:-}" != torture ] && [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "${memory:-0}" -ge 2048 ]; then
    TMPDIR=$(mktemp -d /dev/shm/cipherdb-XXXXXX)
    # Some tests run the command as another user.
    chmod 755 "$TMPDIR"
    export TMPDIR
    trap 'rm -rf "$log" "$TMPDIR"' EXIT
fi
printf '%s\0' "${jobs[@]}" | xargs -0 -n 1 -P "$side_by_side" Scripts/test.sh --job || failed+=("tests: a run was lost")
echo "   $((SECONDS - tested)) s"
for index in "${!names[@]}"; do
    name=${names[$index]}
    if [ "$(cut -d' ' -f1 "$results/$name.status" 2> /dev/null)" != 0 ]; then
        failed+=("tests: $name")
    elif [ -n "$whole" ]; then
        # The engines and the files have not changed meanwhile either, or the next run finds another state.
        [ -f "$results/$name.date" ] || date '+%Y-%m-%d %H:%M' > "$passed/$name.date"
        cp "$results/$name.xml" "$passed/$name.xml"
        echo "$whole ${shares[$index]}" > "$passed/$name.state"
    fi
done

if [ -z "${1:-}" ] && [ -z "${ONLY:-}" ]; then
    unless_unchanged manual manual Sources Keys Package.swift -- Scripts/manual.sh "${flags[@]}"
    unless_unchanged documentation docs Sources Keys Documentation Package.swift README.md SECURITY.md Scripts/docs.sh -- \
        Scripts/docs.sh "$build/release"
fi
Scripts/results.py "$results" "${names[@]}" || failed+=("results")
finish
