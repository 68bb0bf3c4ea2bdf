#!/usr/bin/env python3
"""Breaks the product on purpose, in each way of Tests/Mutants.toml, one at a time: the tests must fail each time.

usage: Scripts/mutants.py [--engine NAME] [--only PATTERN] [--check]

A copy of the working tree gets all mutants at once, each behind a condition that an environment variable chooses, so that it is
built once. First the tests must pass without any. A run ends with the first test that fails. A mutant that the suites named for
it let live is an open defect, and fails the run, as does one without a failed test after LONGEST seconds, or at the end. With
--check it is only looked whether each still stands once in the source.
"""
import argparse, concurrent.futures, glob, os, re, shutil, subprocess, sys, tempfile, threading, time, tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.join(ROOT, ".build-mutants")
TREE = os.path.join(PLACE, "tree")
# Seconds for the suites of one mutant, which take some ten; tests that may wait for ever have a limit of a minute.
LONGEST = 120
MINUTES_OF_A_HANG = "1"
# As in Scripts/test.sh.
FLAGS = ["-c", "release", "-Xswiftc", "-Onone", "-Xswiftc", "-enable-testing", "-Xswiftc", "-DFAULTS"]
# A test that failed.
FAILURE = re.compile(r"✘ Test (?:case )?\"?([A-Za-z0-9_]+)[^\n]* recorded an issue")

SWITCH = """
private func isMutant(_ number: Int) -> Bool { chosenMutant == number }
private let chosenMutant = getenv("CIPHERDB_MUTANT").flatMap { Int(String(cString: $0)) }
"""


def copy():
    """The files under version control, as they are now, by their names."""
    names = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           check=True).stdout.decode().split("\0")
    fresh = {name: open(os.path.join(ROOT, name), "rb").read()
             for name in names if name and os.path.isfile(os.path.join(ROOT, name))}
    return fresh


def replacement(mutant, number):
    found = mutant["find"]
    chosen = "isMutant(%d)" % number
    how = mutant.get("how")
    if how == "skip":
        return "if !%s { %s }" % (chosen, found)
    if how == "pass":
        return "(%s || (%s))" % (chosen, found)
    if how == "never":
        return "(!%s && (%s))" % (chosen, found)
    return mutant["with"].replace("MUTANT", chosen)


def mutate(files, mutants):
    declared = set(re.findall(r"(?:struct|class|enum) (\w+)", "".join(
        content.decode() for name, content in files.items() if name.startswith("Tests/") and name.endswith(".swift"))))
    for mutant in mutants:
        unknown = set(mutant["tests"].split("|")) - declared
        if unknown:
            sys.exit("mutants: %s: there is no suite %s" % (mutant["name"], ", ".join(sorted(unknown))))
    sources = [name for name in files if re.match(r"(Keys|Sources)/.*\.swift$", name)]
    for number, mutant in enumerate(mutants, 1):
        find = mutant["find"].encode()
        places = [mutant["file"]] if "file" in mutant else [name for name in sources if find in files[name]]
        if [files[name].count(find) for name in places] != [1]:
            sys.exit("mutants: %s: stands in %s, not once:\n%s" % (mutant["name"], places, mutant["find"]))
        mutant["file"] = places[0]
        files[places[0]] = files[places[0]].replace(find, replacement(mutant, number).encode())
    for name in {mutant["file"] for mutant in mutants}:
        imports = b"" if b"import Glibc" in files[name] else b"private import Glibc\n"
        files[name] = imports + files[name] + SWITCH.encode()


def write(files):
    """Files that are as before keep their times, for the build."""
    for directory, _, present in os.walk(TREE):
        for name in present:
            path = os.path.join(directory, name)
            if os.path.relpath(path, TREE) not in files:
                os.unlink(path)
    for name, content in files.items():
        path = os.path.join(TREE, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path) and open(path, "rb").read() == content:
            continue
        with open(path, "wb") as file:
            file.write(content)
        shutil.copymode(os.path.join(ROOT, name), path)
    engines = os.path.join(TREE, ".engines")
    if not os.path.islink(engines):
        os.symlink(os.path.join(ROOT, ".engines"), engines)


def place(engine):
    return os.path.join(PLACE, "build-" + (engine or "system"))


def libraries(engine):
    return subprocess.run([os.path.join(ROOT, "Scripts/with-engine.sh"), "--libraries", engine], capture_output=True, text=True,
                          check=True).stdout.strip()


def remove(directory):
    """Removes what killed tests left: small file systems, and files that a process makes which was not killed yet."""
    for attempt in range(100):
        if os.path.exists("/proc/mounts"):
            with open("/proc/mounts") as mounts:
                for path in [line.split()[1] for line in mounts if line.split()[1].startswith(directory + "/")]:
                    subprocess.run(["umount", "-l", path])
        shutil.rmtree(directory, ignore_errors=True)
        if not os.path.exists(directory):
            return
        time.sleep(0.1)
    sys.exit("mutants: %s cannot be removed" % directory)


def run(engine, command, mutant=None, longest=None, other=None, variable=None):
    """The exit status, None where it took too long, and what was said. A mutant's run ends with its first failure."""
    directory = tempfile.mkdtemp(prefix="mutant-")
    # Some tests run the command as another user, and are skipped where that one cannot reach their files.
    os.chmod(directory, 0o755)
    try:
        environment = dict(os.environ, NO_COLOR="1", TMPDIR=directory, CIPHERDB_HANG_MINUTES=MINUTES_OF_A_HANG)
        if engine:
            command = [os.path.join(ROOT, "Scripts/with-engine.sh"), engine] + command
            environment["CIPHERDB_ENGINE"] = other or engine
            if other:
                # As in Scripts/test.sh: the build serves every engine.
                environment["CIPHERDB_OTHER_HEADER"] = "1"
                environment["LD_LIBRARY_PATH"] = libraries(other)
                command = command[2:]
        if mutant:
            environment["CIPHERDB_MUTANT"] = str(mutant)
        if variable:
            name, value = variable.split("=")
            environment[name] = value
        process = subprocess.Popen(command, cwd=TREE, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        late = threading.Event()

        def end():
            # The tests are a group of their own in its session.
            subprocess.run(["pkill", "-KILL", "-s", str(process.pid)])

        def give_up():
            late.set()
            end()

        clock = threading.Timer(longest, give_up) if longest else None
        if clock:
            clock.start()
        said = []
        for line in process.stdout:
            said.append(line)
            if mutant and FAILURE.search(line):
                end()
                break
        said += process.stdout.readlines()
        status = process.wait()
        if clock:
            clock.cancel()
        return None if late.is_set() else status, "".join(said)
    finally:
        remove(directory)


def test(engine, suites, mutant=None, longest=None, other=None, variable=None):
    """Runs the suites on the engine of the build, or on another."""
    filter = "|".join(r"\.%s/" % suite for suite in suites)
    # Not by `swift test`, which reads the package again for each environment.
    tests = os.path.join(place(engine), "release", "CipherDBPackageTests.xctest")
    # All at once, tests that wait for each other run into their limits of time.
    command = [tests, "--testing-library", "swift-testing", "--experimental-maximum-parallelization-width", "4", "--filter", filter]
    return run(engine, command, mutant, longest, other, variable)


def finder(status, said):
    """The test that failed first."""
    found = FAILURE.search(said)
    if found:
        return found.group(1)
    return "a crash" if status < 0 or "Fatal error" in said or "crashed" in said else None


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    engines = glob.glob(os.path.join(ROOT, ".engines/[0-9]*/"))
    newest = max((os.path.basename(os.path.dirname(path)) for path in engines), default=None,
                 key=lambda name: [int(part) for part in name.split(".")])
    options.add_argument("--engine", default=newest, help="of .engines; the newest unless given")
    options.add_argument("--only", default="", metavar="PATTERN", help="mutants whose name it matches")
    options.add_argument("--check", action="store_true", help="look for their places, and end")
    chosen = options.parse_args()
    with open(os.path.join(ROOT, "Tests/Mutants.toml"), "rb") as file:
        mutants = tomllib.load(file)["mutant"]
    files = copy()
    mutate(files, mutants)
    if chosen.check:
        return
    os.makedirs(TREE, exist_ok=True)
    write(files)
    print("mutants: building %d of them, SQLCipher %s" % (len(mutants), chosen.engine or "of the system"), flush=True)
    status, said = run(chosen.engine, ["swift", "build", "-q", "--build-tests", "--scratch-path", place(chosen.engine), *FLAGS])
    if status:
        sys.exit(said)
    wanted = [(number, mutant) for number, mutant in enumerate(mutants, 1) if re.search(chosen.only, mutant["name"])]
    if not wanted:
        sys.exit("mutants: none has such a name")
    suites = sorted({suite for _, mutant in wanted for suite in mutant["tests"].split("|")})
    status, said = test(chosen.engine, suites)
    if status != 0 or re.search(r"\bwith 0 tests\b", said):
        sys.exit(said + "mutants: the tests fail without a mutant")
    began = time.monotonic()

    def attempt(number, mutant):
        start = time.monotonic()
        status, said = test(chosen.engine, mutant["tests"].split("|"), number, LONGEST, mutant.get("engine"),
                            mutant.get("environment"))
        return status, said, time.monotonic() - start

    living, unclear = [], []
    # As many at once as there are processors.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        attempts = [(mutant["name"], pool.submit(attempt, number, mutant)) for number, mutant in wanted]
        for name, one in attempts:
            status, said, took = one.result()
            found = finder(status, said) if status else None
            word = "LIVES " if status == 0 else "WAITS " if status is None else "found " if found else "FAILS "
            print("%s  %3.0f s  %s%s" % (word, took, name, ": " + found if found else ""), flush=True)
            if status == 0:
                living.append(name)
            elif not found:
                unclear.append(name)
    print("mutants: %d of %d were found, in %.0f s" % (len(wanted) - len(living) - len(unclear), len(wanted),
                                                      time.monotonic() - began))
    if living:
        sys.exit("mutants: LIVING: " + "; ".join(living))
    if unclear:
        sys.exit("mutants: no test failed, though not all passed: " + "; ".join(unclear))


main()
