# netpath: the commands a person needs. `make run` and `make test` do all set-up on a fresh Debian machine with Swift.

SWIFT ?= swift
# SwiftPM writes the traits of a package into its commands in the order of a hash: with another one at each start, every other
# build would compile everything anew.
export SWIFT_DETERMINISTIC_HASHING = 1
PREFIX ?= /usr/local
# Compiling and linking (libnl, libyaml, libcurl, SQLite), and what the kernel tests run (ip, unshare, nsenter).
PACKAGES = libnl-3-dev libnl-route-3-dev libyaml-dev libcurl4-openssl-dev libsqlite3-dev pkg-config binutils iproute2 \
    util-linux procps
# What CI has besides, so that no test is skipped there.
PACKAGES += $(EXTRA_PACKAGES)
SOURCES = Package.swift Sources Plugins Tests Examples Benchmarks/Package.swift Benchmarks/FirstPath Benchmarks/HostReach \
    Benchmarks/MemoryFloor Fuzz/Package.swift Fuzz/Sources
# How many seconds `make fuzz` gives to each target.
SECONDS ?= 60
# How long `make soak` goes on, and what it does.
MINUTES ?= 10
SEED ?= 1
# How long `make bench` measures: quick or full.
MODE ?= quick
# For --version; a tarball has none, and must not be taken for a part of the repository it was unpacked in.
NETPATH_COMMIT ?= $(shell [ -e .git ] && git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown)
# An event finds the caches cold: smaller code (-Osize) takes less time than code that is optimised for speed.
# Generic types are made by the functions that make them. To have the runtime make them from their names takes less room,
# and a search for each conformance they need, at every start: `netpath -q` takes 9 % less time with this.
TYPES = -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
# All addresses of libraries are filled in at the start and made read-only then, so that no fault can change them (full RELRO).
HARDENING = -Xlinker -z -Xlinker now
# No library asks a program for its symbols, and its relocations fit into 20 kB instead of 1.2 MB (glibc 2.36): that takes 1.5 MiB
# off the memory of each program, and 2 MB off its file. The linker that comes with Swift can pack them; gold cannot.
COMPACT = -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs
# With a section of its own for each function the linker leaves out those that nothing calls.
COMPACT += -Xswiftc -Xfrontend -Xswiftc -function-sections
# Nothing throws an exception of C++: the tables by which one is caught are a seventh of netpath.
COMPACT += -Xlinker -T -Xlinker $(CURDIR)/Packaging/without-unwind-tables.ld
# Swift's runtime uses little of the C++ library: 80 kB where it is linked in, and loaded it is a sixth of a start. A folder
# with nothing but the archive has the linker take that; where there is no archive it takes the shared library.
ARCHIVES = $(CURDIR)/.build/archives
# Where the checkout is says nothing about the programs: the same commit makes the same bytes anywhere.
PLACELESS = -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xswiftc -file-compilation-dir -Xswiftc . \
    -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
    -Xcc -ffile-prefix-map=$(CURDIR)=. -Xcc -ffile-compilation-dir=.
# A folder apart from that of `swift build`, so that `make test` builds what is shipped and the tests at the same time.
PROGRAMS = .build/programs
COMPILE = NETPATH_COMMIT=$(NETPATH_COMMIT) $(SWIFT) build --scratch-path $(PROGRAMS) -c release --static-swift-stdlib \
    --disable-local-rpath -Xswiftc -L$(ARCHIVES) -Xswiftc -Osize $(TYPES) $(HARDENING) $(COMPACT) $(PLACELESS)
# Moves the symbols of programs into .debug files beside them, unless they are there.
define separate_symbols
	ln -sfn $(notdir $(PROGRAMS))/release .build/release
	cd .build/release && for program in $(1); do \
	    readelf -S $$program | grep -q gnu_debuglink && continue; \
	    objcopy --only-keep-debug $$program $$program.debug && \
	        objcopy --strip-all --add-gnu-debuglink=$$program.debug $$program || exit 1; \
	done
endef

# The clients in other languages, and their tests; what only wants the monitor needs none of it.
CLIENT_PACKAGES = gcc libc6-dev binutils pkg-config libglib2.0-dev python3-pip python3-setuptools \
    python3-wheel
CLIENT_TEST_PACKAGES = $(CLIENT_PACKAGES) g++ iproute2 util-linux valgrind socat jq xdg-desktop-portal \
    dbus-daemon libglib2.0-bin libglib2.0-tests qt6-base-dev qt6-base-private-dev xvfb python3-gi \
    gir1.2-gtk-3.0

# What the lab's machine is made and run with; the kernel and the tools in it are fetched, not installed.
LAB_PACKAGES = qemu-system-x86 busybox-static cpio kmod xz-utils
# Which part of the lab to play: quick or all; and words that titles of scenarios contain.
LAB ?= all
SCENARIO ?=

.PHONY: run demo build check test test-long test-lab lab-programs lab-table soak clients deb-clients test-clients fuzz bench bench-queue bench-serve lint format man docs \
    picture scenarios \
    install uninstall deb tarball test-packages test-systemd \
    packages clean

# Builds the monitor, and watches this machine's network with the embedded default configuration. To see it soon it is not
# optimised, which takes a third of the time; `make test` takes what is compiled here.
run: packages
	$(SWIFT) build --product netpath
	.build/debug/netpath watch --config Config/netpath.yaml

# Offline requests at work, in a network of its own that is cut and mended; nothing of this machine is touched.
demo: packages
	$(SWIFT) build --product LabPeers
	$(SWIFT) build --product Examples
	Examples/OfflineDemo/run

# Leaves the programs at .build/release/netpath, and netpath-http, netpath-plugin, netpath-queue and netpath-serve beside
# it, the Swift runtime linked statically. Their symbols lie beside them in .debug files, where debuggers and crash reports
# look for them. The examples and what the tests measure are made, too: to build everything at once keeps all processors
# busy, and product after product does not. No program has a search path for libraries that begins in its own folder, where
# anybody may have put some.
build: packages $(ARCHIVES)/libstdc++.a
	$(COMPILE)
	$(call separate_symbols,netpath netpath-http netpath-plugin netpath-queue netpath-serve)

$(ARCHIVES)/libstdc++.a:
	mkdir -p $(@D)
	ln -sf "$$(clang -print-file-name=$(@F))" $@

# After every edit: formatting, boundaries and the tests that take seconds.
check: packages
	.ci/check

# Everything that decides whether a change is good: formatting, boundaries, unit tests, kernel tests, release build.
test: packages
	.ci/test

# The random tests at length besides (1,000 walks, 1,000 broken backends), a month of a vehicle, ten minutes of `make soak`, a
# minute of each target of `make fuzz`, and everything under both sanitizers.
test-long: test
	.ci/test-long

# netpath on a Debian kernel in a virtual machine, with simulated radios, modems and cards; as root, on x86_64. All of it takes
# less than 12 minutes on two processors, LAB=quick less than three; SCENARIO=wi-fi plays what has that word in its title.
test-lab: PACKAGES += $(LAB_PACKAGES)
test-lab: packages $(if $(NETPATH_BINARY),,lab-programs)
	Tests/Lab/run $(LAB) $(SCENARIO)

# As they are shipped: emulated, debug builds take six times as long.
lab-programs: packages $(ARCHIVES)/libstdc++.a
	$(COMPILE) --product netpath
	$(COMPILE) --product netpath-http
	$(call separate_symbols,netpath netpath-http)

# The same, with what GLib and systemd-networkd say beside it, as a table; that of the whole lab goes into Laboratory.md.
lab-table: PACKAGES += $(LAB_PACKAGES) gcc libc6-dev libglib2.0-dev
lab-table: packages $(if $(NETPATH_BINARY),,lab-programs)
	mkdir -p .build/lab/peers
	cc -O1 -o .build/lab/peers/gnetworkmonitor Benchmarks/Peers/gnetworkmonitor.c $$(pkg-config --cflags --libs gio-2.0)
	status=0; LAB_PEERS=$(CURDIR)/.build/lab/peers Tests/Lab/run $(LAB) $(SCENARIO) || status=$$?; \
	case $$status in 0) ;; 1) echo "some scenarios failed" >&2 ;; *) echo "no table: the lab did not run" >&2; exit $$status ;; esac; \
	Tests/Lab/table .build/lab/results $(if $(SCENARIO)$(filter-out all,$(LAB)),,Sources/NetPath/NetPath.docc/Laboratory.md) && \
	    exit $$status

# `netpath run` in a network that walks at random, with backends, plugins, hooks, clients and files that fail, for MINUTES with
# the seed SEED; what fails prints the seed and the last minute of the recording. `make test-long` has ten minutes of it.
soak: packages
	NETPATH_SOAK_MINUTES=$(MINUTES) NETPATH_SOAK_SEED=$(SEED) $(SWIFT) test --filter '^KernelTests\.SoakTests'

# What has programs in other languages ask netpath, in .build/clients: libnetpath for C, a module for GIO, a plugin for Qt where its
# private headers are, a Python package.
clients: PACKAGES = $(CLIENT_PACKAGES)
clients: packages
	$(MAKE) -C Clients

# The Debian packages libnetpath0, libnetpath-dev, netpath-gio, netpath-qt6 and python3-netpath, in .build/packages.
deb-clients: PACKAGES = $(CLIENT_PACKAGES) debhelper dh-python dpkg-dev g++ qt6-base-dev qt6-base-private-dev
deb-clients: packages
	Clients/build-deb .build/packages

# Beside the netpath that NETPATH_BINARY names, else one that is built now; in a network of its own.
test-clients: PACKAGES += $(CLIENT_TEST_PACKAGES)
test-clients: packages
	$(MAKE) -C Clients
	[ -n "$$NETPATH_BINARY" ] || $(SWIFT) build --product netpath
	Clients/Tests/run

# What reads bytes of others, under libFuzzer and the address sanitizer: SECONDS for each target.
fuzz: packages
	Fuzz/run $(SECONDS)

# netpath beside its peers on this machine: writes Benchmarks/RESULTS.md.
bench: PACKAGES += libglib2.0-dev
bench: build
	$(SWIFT) build -c release --static-swift-stdlib $(COMPACT) --package-path Benchmarks
	Benchmarks/run $(MODE)

# The queue beside SQLite and the transport alone: writes Benchmarks/Queue/RESULTS.md.
bench-queue: build
	Benchmarks/run-queue

# The server under 1,000 clients, at rest and scraped: writes Benchmarks/Serve/RESULTS.md.
bench-serve: build
	Benchmarks/Serve/run

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	SWIFT="$(SWIFT)" .ci/check-boundaries

format:
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

# Writes Documentation/netpath.1 anew from the definitions of the commands; `make test` fails when it is out of date.
man:
	NETPATH_UPDATE_MANUAL=1 $(SWIFT) test --filter theCommittedPageIsUpToDate

# The documentation of every product as one site, in .build/documentation; and the pictures in it, that of the
# modules from the description of the package.
docs: PACKAGES += graphviz
docs: packages
	mkdir -p .build
	SWIFT="$(SWIFT)" .ci/draw-modules | dot -Tsvg >.build/modules.svg
	mv .build/modules.svg Sources/NetPath/NetPath.docc/Modules.svg
	dot -Tsvg Documentation/flow.dot >Sources/NetPath/NetPath.docc/Flow.svg
	$(SWIFT) build
	SWIFT="$(SWIFT)" NETPATH_CI=1 .ci/check-documentation .build/documentation
	@echo "To read it: python3 -m http.server --directory .build/documentation, http://localhost:8000/documentation"

# Draws the pictures of README.md anew, from what the programs show in networks of their own; the page's with the browser of
# Tests/Browser/run, which has to have run.
picture: PACKAGES += tmux chromium
picture: packages
	$(SWIFT) build --product netpath
	$(SWIFT) build --product netpath-serve
	Documentation/draw-watch .build/debug/netpath >Documentation/watch.svg
	Documentation/draw-page .build/debug/netpath Documentation/status-page.png

# Writes Scenarios.md of the documentation anew from the table of Sources/NetPathTestKit/Comparison, likewise.
scenarios:
	NETPATH_UPDATE_SCENARIOS=1 $(SWIFT) test --filter ComparisonPageTests

# The programs, their manual, their completions for bash, zsh and fish, the units of systemd, the schemas for editors and
# what is there to copy from: `Packaging/contents` lists all of it, and `make uninstall` takes just that away.
install: build
	Packaging/install "$(DESTDIR)" "$(PREFIX)"

uninstall:
	Packaging/install --remove "$(DESTDIR)" "$(PREFIX)"

# The Debian packages netpath, netpath-plugin, netpath-queue and netpath-serve, and those of their symbols, in .build/packages.
deb: PACKAGES += debhelper dpkg-dev elfutils
deb: build
	rm -f .build/packages/*_*
	Packaging/build-deb .build/packages

# What any distribution with glibc 2.36 or newer runs, in .build/packages: unpacked into /usr/local, or anywhere.
tarball: build
	Packaging/check-dependencies .build/release
	Packaging/build-tarball .build/packages

# The Debian packages before lintian and piuparts, and in a fresh root: installed, upgraded, removed, purged. As root.
test-packages: PACKAGES += debootstrap lintian piuparts
test-packages: deb
	Packaging/test-packages .build/packages

# The Debian packages under a real systemd, in a virtual machine: units, upgrade under clients, power cut, purge. OLDER names a
# folder with packages to upgrade from. As root, on x86_64.
test-systemd: PACKAGES += $(LAB_PACKAGES) debootstrap e2fsprogs
test-systemd: deb
	Tests/Systemd/run .build/packages

# Installs what is missing, and asks for nothing when nothing is.
packages:
	@missing=""; for package in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	    echo "installing$$missing"; \
	    sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    $$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive \
	        apt-get install -q -y --no-install-recommends $$missing; \
	fi

clean:
	$(SWIFT) package clean
