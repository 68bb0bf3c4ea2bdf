export PREFIX DESTDIR

# The tests need the shell of the engine, which Homebrew has.
ifeq ($(shell uname),Darwin)
export CIPHERDB_HOMEBREW = 1
endif

.PHONY: help setup engines build demo check test torture sanitize mutants fuzz check-darwin publish-check bench docs examples custody remotes manual release install uninstall deb install-check containers reproducible lint format clean

help:
	@echo "make demo     load Debian's package database into an encrypted one, search it, change its key"
	@echo "make examples: a password vault and an HTTP service, built and used"
	@echo "make check    what to run between two edits: the tests that end soon, on the system's engine"
	@echo "make test     build, lint, and run all tests on every engine of the matrix (ENGINE=4.6.1, ONLY=Suite: some of it)"
	@echo "make torture  a pool under load, the command killed at random moments, faults, damage, fuzzing: an hour or so"
	@echo "make sanitize all tests under AddressSanitizer and ThreadSanitizer, and a check for leaks (Linux)"
	@echo "make mutants  break the product in each way of Tests/Mutants.toml: the tests must fail each time (Linux)"
	@echo "make fuzz     bytes of an attacker's to everything that reads them, ten minutes each (Linux)"
	@echo "make check-darwin  type-check what is for macOS and iOS, and compile the C files for them (Linux, ziglang)"
	@echo "make publish-check  what is published, made in a copy: tarball, formula of Homebrew, signed tag"
	@echo "make bench    the library against C and GRDB on the same engine; the rekey command against the stock shell, on files of 1 GB (SIZES=1,64,1024,4096: files of so many MiB for the library; AGAINST=COMMIT: the library of that commit and this one)"
	@echo "make custody  keys in a TPM, a token or a key service: each recipe on real parts, which are then lost (Debian, root)"
	@echo "make remotes  backups to SFTP, WebDAV and S3 on this machine, through a proxy that cuts connections (Debian, rclone)"
	@echo "make docs     build the documentation into .build/docs"
	@echo "make manual   write the man pages of rekey to .build/man"
	@echo "make install  the command, its man pages and completions under PREFIX (/usr/local), DESTDIR before it;  make uninstall  remove them"
	@echo "make release  build what make install installs, for a user who is not root"
	@echo "make deb      the package rekey for this release of Debian, or for RELEASE=trixie, bookworm-backports, noble"
	@echo "make install-check  install that package where there is no Swift and use it, also with a TPM and by systemd, for RELEASE or all; needs root"
	@echo "make containers  build the images of rekey and of the example service by Podman and use them, or check their Containerfiles by hadolint"
	@echo "make reproducible  build the package twice, in two directories, and compare"
	@echo "make setup    install the packages that are missing (needs root or sudo)"
	@echo "make engines  fetch the engines of the matrix into .engines, without installing them"
	@echo "make lint     check the format of the sources;  make format  mend it"

setup:
	@Scripts/setup.sh

engines: setup
	@Scripts/engines.sh

build: setup
	swift build

demo: setup
	swift build --product PackageSearch
	@.build/debug/PackageSearch

check: setup
	@ENGINE="$(ENGINE)" ONLY="$(ONLY)" Scripts/test.sh check

test: setup engines
	@ENGINE="$(ENGINE)" ONLY="$(ONLY)" Scripts/test.sh

bench: engines
	@if [ -n "$(AGAINST)" ]; then Benchmarks/against.py "$(AGAINST)"; elif [ -n "$(SIZES)" ]; then Benchmarks/bench.sh --topic sizes --sizes "$(SIZES)"; else Benchmarks/bench.sh && Benchmarks/rekey.py; fi

examples: setup
	@Scripts/examples.sh

custody: setup
	@Scripts/custody.sh

remotes: engines release
	@.engines/python/bin/python Scripts/remotes.py .build-release/stage/rekey

docs: setup
	@Scripts/docs.sh

manual: setup
	@Scripts/manual.sh

release:
	@Scripts/stage.sh

install: release
	@Scripts/install.sh

uninstall:
	@Scripts/install.sh --uninstall

deb:
	@Scripts/deb.sh $(RELEASE)

install-check:
	@Scripts/install-test.sh $(RELEASE)

containers:
	@Scripts/containers.sh

reproducible:
	@Scripts/reproducible.sh $(RELEASE)

torture: engines
	@Scripts/torture.sh

sanitize: engines
	@Scripts/sanitize.sh

mutants: engines
	@Scripts/mutants.py

fuzz: setup
	@Scripts/fuzz.sh

check-darwin:
	@Scripts/check-darwin.py

publish-check:
	@Scripts/publish.sh --check

lint:
	swift format lint --strict --recursive --parallel Package.swift Keys Sources Tests Examples Benchmarks

format:
	swift format format --in-place --recursive --parallel Package.swift Keys Sources Tests Examples Benchmarks

clean:
	rm -rf .build .build-* .engines
