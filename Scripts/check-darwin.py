#!/usr/bin/env python3
"""Type-checks the libraries for macOS and iOS on Linux, and the command for macOS, without Apple's SDK: nothing is linked, nothing runs.

A call that the minimum systems lack is an error where the toolchain's declarations tell since when it is there. At the end errors are
planted, which this has to find.

usage: Scripts/check-darwin.py

What stands in for the SDK, made once in .build-darwin:
  Swift's own modules   from the textual interfaces of the Linux toolchain, built for Apple's systems
  Foundation, Dispatch  from the declarations of the Linux modules; what does not compile there is left out
  headers of C          Apple's, with CommonCrypto's, from PyPI's ziglang
  the rest              Scripts/darwin: what Apple's overlay of its C library, Security, CryptoKit, os and SwiftUI declare for Swift
There is no bridge to Objective-C. The files of C are compiled for each of Apple's systems. Without ziglang nothing is checked.
"""
import concurrent.futures, glob, importlib.util, json, os, platform, re, shutil, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STUBS = os.path.join(ROOT, "Scripts/darwin")
WORK = os.path.join(ROOT, ".build-darwin")
# Of a simulator, so that Swift's own modules have the types of this processor.
PROCESSOR = {"x86_64": "x86_64", "aarch64": "arm64"}.get(platform.machine())
TRIPLES = {"macos": "macos%s", "ios": "ios%s-simulator", "tvos": "tvos%s-simulator", "watchos": "watchos%s-simulator",
           "visionos": "xros%s-simulator"}
STANDARD_LIBRARY = ["Swift", "SwiftOnoneSupport", "Darwin", "_Concurrency", "Observation", "_RegexParser",
                    "_StringProcessing", "RegexBuilder"]
# What the Linux modules have under a name that is not shown.
REPLACED = {
    "public typealias NSRange\n":
        "public struct NSRange: Hashable, Sendable { public init(location: Int, length: Int)\n"
        "public init<Place: RangeExpression, Text: StringProtocol>(_ range: Place, in text: Text) where Place.Bound == Text.Index\n"
        "public var location: Int { get set }\npublic var length: Int { get set } }\n",
}
# What they lack, or show without what the compiler derives.
ADDED = {
    "Dispatch": "extension DispatchWorkItemFlags { public static var enforceQoS: DispatchWorkItemFlags { get } }",
    "Foundation": "extension ComparisonResult: RawRepresentable { public typealias RawValue = Int\n"
                  "public init?(rawValue: Int)\npublic var rawValue: Int { get } }\n"
                  "extension ProcessInfo { public func performExpiringActivity(withReason reason: String,\n"
                  "using block: @escaping @Sendable (Bool) -> Void) }\n"
                  "extension StringProtocol { public func lowercased(with locale: Locale?) -> String }\n"
                  "public enum NumberFormatStyleConfiguration { public struct Precision {\n"
                  "public static func fractionLength(_ length: Int) -> Precision } }\n"
                  "public struct FloatingPointFormatStyle<Value: BinaryFloatingPoint>: FormatStyle {\n"
                  "public init(from decoder: any Decoder) throws\npublic func encode(to encoder: any Encoder) throws\n"
                  "public func hash(into hasher: inout Hasher)\npublic static func == (a: Self, b: Self) -> Bool\n"
                  "public func format(_ value: Value) -> String\n"
                  "public func precision(_ precision: NumberFormatStyleConfiguration.Precision) -> Self }\n"
                  "extension FormatStyle where Self == FloatingPointFormatStyle<Double> { public static var number: Self { get } }\n"
                  "extension BinaryFloatingPoint { public func formatted() -> String\n"
                  "public func formatted<Style: FormatStyle>(_ style: Style) -> Style.FormatOutput where Style.FormatInput == Self }\n"
                  "public func _convertErrorToNSError(_ error: any Error) -> NSError\n"
                  "public func _convertNSErrorToError(_ error: NSError?) -> any Error",
}
# The example of an app.
EXAMPLE = "Tests/CipherDBTests/Articles/AppCode.swift"
# Errors that this check has to find: a name that Security lacks, and a call that the minimum systems lack.
PLANTED = [("CipherKeys", "Keys/Keychain.swift", "kSecAttrAccessibleWhenUnlockedThisDeviceOnly", "kSecAttrAccessibleThisDeviceOnly"),
           ("CipherSystem", "Sources/CipherSystem/SerialWorker.swift", "if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)",
            "if true")]
FEATURES = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail("%s\n%s" % (" ".join(command), done.stderr))
    return done.stdout


def text(path):
    with open(path) as file:
        return file.read()


def write(path, content):
    with open(path, "w") as file:
        file.write(content)


def fail(message):
    raise SystemExit("check-darwin: " + message)


def apple_headers():
    """The directory of Apple's headers that ziglang has."""
    places = [os.environ.get("CIPHERDB_ZIGLANG", "")]
    places += glob.glob(ROOT + "/.engines/python/lib/python3*/site-packages/ziglang")
    module = importlib.util.find_spec("ziglang")
    if module and module.origin:
        places.append(os.path.dirname(module.origin))
    for place in places:
        headers = os.path.abspath(os.path.join(place, "lib/libc/include/any-darwin-any"))
        if place and os.path.isdir(headers):
            return headers
    print("check-darwin: skipped, as there are none of Apple's headers: pip install ziglang, or set CIPHERDB_ZIGLANG to its directory")
    sys.exit(0)


class System:
    """The modules that Apple's SDK would have."""

    def __init__(self, name, version, headers, info):
        self.name, self.info = name, info
        self.target = "%s-apple-%s" % (PROCESSOR, TRIPLES[name] % version)
        self.directory = os.path.join(WORK, name)
        self.modules, self.sdk = self.directory + "/modules", self.directory + "/sdk"
        self.resources = info["paths"]["runtimeResourcePath"]
        self.flags = ["-target", self.target, "-disable-objc-interop", "-sdk", self.sdk, "-I", self.modules, "-I", STUBS,
                      "-I", self.resources + "/shims", "-module-cache-path", self.directory + "/cache"]
        made_of = "\n".join([info["compilerVersion"], headers, self.target, str(REPLACED), str(ADDED)]
                            + [text(file) for file in sorted(glob.glob(STUBS + "/*"))])
        if os.path.exists(self.directory + "/complete") and text(self.directory + "/complete") == made_of:
            return
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.modules)
        os.makedirs(self.sdk + "/usr")
        os.symlink(headers, self.sdk + "/usr/include")
        write(self.sdk + "/SDKSettings.json", json.dumps({"Version": version, "MaximumDeploymentTarget": version}))
        for name in STANDARD_LIBRARY:
            self.build_stub(name) if name == "Darwin" else self.build_interface(name)
        for name in ("Dispatch", "Foundation"):
            self.build_declarations(name)
        for name in ("Security", "CryptoKit", "os", "SwiftUI"):
            self.build_stub(name)
        write(self.directory + "/complete", made_of)

    def frontend(self, *arguments):
        return subprocess.run(["swiftc", "-frontend", *self.flags, *arguments], capture_output=True, text=True)

    def build_stub(self, name):
        done = self.frontend("-emit-module", "-parse-as-library", "-module-name", name, "-swift-version", "6",
                             "-o", "%s/%s.swiftmodule" % (self.modules, name), "%s/%s.swift" % (STUBS, name))
        if done.returncode != 0:
            fail("%s for %s\n%s" % (name, self.target, done.stderr))

    def build_interface(self, name):
        """A module of Swift's, of the interface that this toolchain has for Linux."""
        found = glob.glob("%s/linux/%s.swiftmodule/*.swiftinterface" % (self.resources, name))
        source = text(min(found, key=len, default=None) or fail("the toolchain has no interface of " + name))
        # Inlinable bodies are compiled, too, which takes longest.
        source = source.replace(" -O ", " -Onone ", 1)
        source = re.sub(r"-target \S+", "-target %s -disable-availability-checking" % self.target, source, count=1)
        source = re.sub(r"@backDeployed\([^)]*\)", "", source).replace("\nimport Glibc\n", "\nimport Darwin\n")
        if wrong := self.compile_interface(name, source):
            fail("%s for %s\n%s" % (name, self.target, wrong))

    def build_declarations(self, name):
        """A module of what Linux's declares, without bodies."""
        imports = ["Swift", "_Concurrency", "_StringProcessing", "Darwin"]
        lines = ["// swift-interface-format-version: 1.0", "// swift-compiler-version: " + self.info["compilerVersion"],
                 "// swift-module-flags: -target %s -enable-library-evolution -swift-version 6 -disable-availability-checking"
                 " -module-name %s" % (self.target, name), *("import " + each for each in imports)]
        if name == "Foundation":
            lines += ["@_exported import Dispatch", "@_exported import Darwin"]
        for module in {"Foundation": ["FoundationEssentials", "Foundation"]}.get(name, [name]):
            declared = output("swift-synthesize-interface", "-module-name", module, "-I", self.resources + "/linux",
                              "-target", self.info["target"]["triple"])
            for before, after in REPLACED.items():
                declared = declared.replace(before, after)
            declared = re.sub(r"\b(public|open) (private|internal)\(set\) ", r"\1 ", declared)
            # What can be set, too, is shown without accessors.
            declared = re.sub(r"^( *(?:[@\w]+ )*subscript[<(].*[^{}])$", r"\1 { get set }", declared, flags=re.MULTILINE)
            lines += [line for line in declared.split("\n") if not re.match(r" *(@_exported )?import |\s*//", line)]
        while errors := self.compile_interface(name, "\n".join(lines)):
            wrong = {int(number) for number in re.findall(r"/%s\.swiftinterface:(\d+):\d+: error" % name, errors)} - {1}
            if not wrong:
                fail("%s for %s\n%s" % (name, self.target, errors))
            for number in wrong:
                remove_declaration(lines, number - 1)
        if wrong := self.compile_interface(name, "\n".join(lines + [ADDED[name]])):
            fail("%s for %s\n%s" % (name, self.target, wrong))

    def compile_interface(self, name, source):
        """Returns the errors."""
        file = "%s/%s.swiftinterface" % (self.directory, name)
        write(file, source)
        done = self.frontend("-compile-module-from-interface", "-module-name", name, "-o", "%s/%s.swiftmodule" % (self.modules, name),
                             *(["-parse-stdlib"] if name == "Swift" else []), file)
        return done.stderr if done.returncode else ""


def remove_declaration(lines, begin):
    """Empties the declaration that begins on this line, with its attributes and members."""
    end = begin
    if lines[begin].endswith("{"):
        closing = " " * (len(lines[begin]) - len(lines[begin].lstrip())) + "}"
        while end + 1 < len(lines) and lines[end] != closing:
            end += 1
    while re.match(r"\s*@[^{]*$", lines[begin - 1]) and not re.search(r"\b(func|var|let|init|case)\b", lines[begin - 1]):
        begin -= 1
    lines[begin:end + 1] = [""] * (end + 1 - begin)


class Check:
    """The package for one system."""

    def __init__(self, name, system, targets, defines=()):
        self.name, self.system, self.targets = name, system, targets
        self.own = os.path.join(system.directory, "package" + "".join(defines))
        shutil.rmtree(self.own, ignore_errors=True)
        os.makedirs(self.own)
        self.flags = ["-I", self.own, "-plugin-path", system.resources + "/host/plugins"]
        for define in defines:
            self.flags += ["-D", define]
        self.rules = ["-swift-version", "6", "-package-name", "cipherdb"]
        self.rules += [flag for feature in FEATURES for flag in ("-enable-upcoming-feature", feature)]
        self.files, self.problems, self.unchecked = 0, [], []
        self.map_c_modules()
        failed = set()
        for target in self.in_order():
            files = sorted(glob.glob(os.path.join(ROOT, self.path(target), "**/*.swift"), recursive=True))
            if not files:
                continue
            if target == "rekey" and self.system.name == "ios":
                continue
            if target == "rekey" and not self.build_argument_parser():
                self.unchecked += ["rekey, %d files, for want of a checkout of swift-argument-parser: swift package resolve" % len(files)]
            elif missing := self.dependencies(target) & failed:
                self.problems.append("%s is not checked, as it needs %s" % (target, ", ".join(sorted(missing))))
                failed.add(target)
            else:
                self.files += len(files)
                if not self.build(target, files, *self.rules):
                    failed.add(target)
        if "CipherDB" not in failed:
            self.files += 1
            self.build("AppCode", [os.path.join(ROOT, EXAMPLE)], *self.rules)
        if not self.problems:
            self.find_planted_errors()

    def find_planted_errors(self):
        for target, path, before, after in PLANTED:
            source = text(os.path.join(ROOT, path))
            line = source[:source.index(before)].count("\n") + 1
            write(self.own + "/planted.swift", source.replace(before, after, 1))
            files = glob.glob(os.path.join(ROOT, self.path(target), "**/*.swift"), recursive=True)
            files = [self.own + "/planted.swift" if os.path.samefile(file, os.path.join(ROOT, path)) else file for file in files]
            found = self.errors("Planted", files, *self.rules)
            if not any("/planted.swift:" in each for each in found):
                self.problems.append("the error that was planted in line %d of %s was not found" % (line, path))

    def build_argument_parser(self):
        """Of a checkout, whose files are not of this package and do not count."""
        found = sorted(glob.glob(ROOT + "/.build*/checkouts/swift-argument-parser/Sources"))
        for module in ["ArgumentParserToolInfo", "ArgumentParser"] if found else []:
            files = sorted(glob.glob("%s/%s/**/*.swift" % (found[0], module), recursive=True))
            if not self.build(module, files, "-swift-version", "5", "-package-name", "argumentparser", "-suppress-warnings"):
                return False
        return bool(found)

    def path(self, target):
        return self.targets[target].get("path") or "Sources/" + target

    def dependencies(self, target):
        named = {list(each.values())[0][0] for each in self.targets[target]["dependencies"]}
        return {each for each in named if each in self.targets}

    def in_order(self):
        found = []

        def visit(target):
            for each in sorted(self.dependencies(target)):
                visit(each)
            if target not in found:
                found.append(target)
        for target in sorted(self.targets):
            visit(target)
        return found

    def map_c_modules(self):
        for target in self.targets:
            directory = os.path.join(ROOT, self.path(target))
            for own in glob.glob(directory + "/module.modulemap") + glob.glob(directory + "/include/module.modulemap"):
                self.flags += ["-Xcc", "-fmodule-map-file=" + own]
                break
            else:
                for header in glob.glob(directory + "/include/*.h"):
                    os.makedirs("%s/%s" % (self.own, target))
                    write("%s/%s/module.modulemap" % (self.own, target), 'module %s { header "%s" export * }\n' % (target, header))
        # The engine and OpenSSL have the same headers on every system; the frameworks of Apple's have another name.
        for library, names in {"sqlcipher": {"sqlcipher": "SQLCipher"}, "libcrypto": {"openssl": "openssl"}}.items():
            flags = output("pkg-config", "--cflags-only-I", library).split()
            for place in [flag[2:] for flag in flags] + ["/usr/include", "/usr/include/%s-linux-gnu" % platform.machine()]:
                for theirs, ours in names.items():
                    os.makedirs(os.path.join(self.own, ours), exist_ok=True)
                    for header in glob.glob("%s/%s/*.h" % (place, theirs)) + glob.glob(place + "/sqlite3.h") * (ours == "SQLCipher"):
                        link = os.path.join(self.own, ours, os.path.basename(header))
                        if not os.path.lexists(link) and "/usr/include/sqlite3.h" != header:
                            os.symlink(header, link)
        self.flags += ["-Xcc", "-I" + self.own]

    def build(self, module, files, *flags):
        found = self.errors(module, files, *flags)
        self.problems += found
        return not any("warning: " not in each for each in found)

    def errors(self, module, files, *flags):
        """Builds a module; returns its errors and warnings."""
        is_program = any(os.path.basename(file) == "main.swift" for file in files)
        done = self.system.frontend("-emit-module", "-module-name", module, "-o", "%s/%s.swiftmodule" % (self.own, module),
                                    *self.flags, *flags, *([] if is_program else ["-parse-as-library"]), *files)
        found = re.findall(r"^(\S.*: (?:error|warning): .*)$", done.stderr, re.MULTILINE)
        return [line.replace(ROOT + "/", "") for line in found] or ([done.stderr] if done.returncode else [])


def compile_c(headers, platforms):
    """Compiles the files of C for each system; returns how many there are, and what is wrong."""
    files, problems = sorted(glob.glob(ROOT + "/Sources/*/*.c")), []
    for system, version in platforms.items():
        for file in files:
            done = subprocess.run(["clang", "-target", "arm64-apple-" + (TRIPLES[system] % version).replace("-simulator", ""),
                                   "-nostdlibinc", "-isystem", headers, "-Wall", "-Wno-nullability-completeness",
                                   "-I", os.path.dirname(file) + "/include", "-c", file, "-o", os.devnull], capture_output=True, text=True)
            problems += ["%s: %s" % (system, line.replace(ROOT + "/", ""))
                         for line in re.findall(r"^.*: (?:error|warning): .*$", done.stderr, re.MULTILINE)]
    return len(files), problems


def main():
    begin = time.monotonic()
    if platform.system() != "Linux" or PROCESSOR is None:
        fail("this is for Linux, on x86-64 or arm64")
    headers = apple_headers()
    info = json.loads(output("swiftc", "-print-target-info"))
    description = json.loads(output("swift", "package", "--package-path", ROOT, "dump-package"))
    platforms = {each["platformName"]: each["version"] for each in description["platforms"]}
    targets = {target["name"]: target for target in description["targets"] if target["type"] in ("regular", "executable", "system")
               and not (target.get("path") or "").startswith(("Tests", "Examples"))}

    def check(name):
        system = System(name, platforms[name], headers, info)
        checks = [Check({"macos": "macOS", "ios": "iOS"}[name], system, targets)]
        if name == "macos":
            checks.append(Check("macOS with Homebrew's OpenSSL", system, targets, ["OpenSSL"]))
        return checks
    with concurrent.futures.ThreadPoolExecutor() as executor:
        checks = [each for checks in executor.map(check, ["macos", "ios"]) for each in checks]
    count, problems = compile_c(headers, platforms)
    for each in checks:
        problems += ["%s: %s" % (each.name, problem) for problem in each.problems]
    print("\n".join(problems + [""] * bool(problems)), end="")
    for each in checks:
        print("check-darwin: %s: %d files of Swift, %d errors and warnings%s" % (
            each.name, each.files, len(each.problems), "".join("; not checked: " + name for name in each.unchecked)))
    if not problems:
        print("check-darwin: found each planted error: " + ", ".join(path for _, path, _, _ in PLANTED))
    print("check-darwin: %d files of C for %s; %d s. Nothing was linked, nothing ran." % (
        count, ", ".join(platforms), time.monotonic() - begin))
    sys.exit(1 if problems else 0)


main()
