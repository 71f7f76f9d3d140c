# netpath: the commands a person needs. `make run` and `make test` do all set-up on a fresh Debian machine with Swift.

SWIFT ?= swift
PREFIX ?= /usr/local
# Compiling and linking (libnl, libyaml, libcurl, SQLite), and what the kernel tests run (ip, unshare, nsenter).
PACKAGES = libnl-3-dev libnl-route-3-dev libyaml-dev libcurl4-openssl-dev libsqlite3-dev pkg-config binutils iproute2 \
    util-linux procps
# What CI has besides, so that no test is skipped there.
PACKAGES += $(EXTRA_PACKAGES)
SOURCES = Package.swift Sources Plugins Tests Examples Benchmarks/Package.swift Benchmarks/FirstPath Benchmarks/HostReach \
    Benchmarks/MemoryFloor
# How long `make bench` measures: quick or full.
MODE ?= quick
# For --version; a tarball has none, and must not be taken for a part of the repository it was unpacked in.
NETPATH_COMMIT ?= $(shell [ -e .git ] && git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown)
# An event finds the caches cold, so that less code is faster than faster code (-Osize), and code that lies together is
# faster than code on a page of its own: the functions of an event come first, in the order that `make order` found.
LAYOUT = -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld -Xlinker --no-warn-symbol-ordering \
    -Xlinker --symbol-ordering-file=$(CURDIR)/Benchmarks/event-path.order
# Generic types are made by the functions that make them. To have the runtime make them from their names takes less room,
# and a search for each conformance they need, at every start.
TYPES = -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
# Swift's runtime uses little of the C++ library: 80 kB where it is linked in, and loaded it is a sixth of a start. A folder
# with nothing but the archive has the linker take that; where there is no archive it takes the shared library.
ARCHIVES = $(CURDIR)/.build/archives
# Without a search path for libraries that begins in the program's own folder, where anybody may have put some.
RELEASE = NETPATH_COMMIT=$(NETPATH_COMMIT) $(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath \
    -Xswiftc -L$(ARCHIVES) -Xswiftc -Osize $(TYPES) $(LAYOUT) --product

.PHONY: run demo build build-measured check test test-long bench bench-queue order lint format man scenarios install packages clean

# Builds the programs and watches this machine's network with the embedded default configuration.
run: build
	.build/release/netpath watch --config Config/netpath.yaml

# Offline requests at work, in a network of its own that is cut and mended; nothing of this machine is touched.
demo: packages
	$(SWIFT) build --product HTTPLabServer
	$(SWIFT) build --product ExampleOfflineDemo
	Examples/OfflineDemo/run

# Leaves the programs at .build/release/netpath and netpath-queue beside it, the Swift runtime linked statically. Their
# symbols lie beside them in .debug files, where debuggers and crash reports look for them.
build: packages $(ARCHIVES)/libstdc++.a
	$(RELEASE) netpath
	$(RELEASE) netpath-queue
	cd .build/release && for program in netpath netpath-queue; do \
	    readelf -S $$program | grep -q gnu_debuglink && continue; \
	    objcopy --only-keep-debug $$program $$program.debug && \
	        objcopy --strip-all --add-gnu-debuglink=$$program.debug $$program || exit 1; \
	done

$(ARCHIVES)/libstdc++.a:
	mkdir -p $(@D)
	ln -sf "$$(clang -print-file-name=$(@F))" $@

# What the kernel tests measure besides, optimised alike.
build-measured: build
	$(RELEASE) SysfsPasses
	$(RELEASE) PathMonitorScenarios
	$(RELEASE) ConnectivityScenarios

# After every edit: formatting, boundaries and the tests that take seconds.
check: packages
	.ci/check

# Everything that decides whether a change is good: formatting, boundaries, unit tests, kernel tests, release build.
test: packages
	.ci/test

# The random tests at length besides (1,000 walks, 1,000 broken backends), and everything under both sanitizers.
test-long: test
	.ci/test-long

# netpath beside its peers on this machine: writes Benchmarks/RESULTS.md and the table of README.md.
bench: PACKAGES += libglib2.0-dev
bench: build
	$(SWIFT) build -c release --static-swift-stdlib --package-path Benchmarks
	Benchmarks/run $(MODE)

# The queue beside SQLite and the transport alone: writes Benchmarks/Queue/RESULTS.md and its table of README.md.
bench-queue: packages
	$(RELEASE) OfflineScenarios
	$(RELEASE) HTTPLabServer
	Benchmarks/run-queue

# Looks anew at which functions an event runs through; worth it when the code of that way has changed much.
order: PACKAGES += valgrind
order: build
	Benchmarks/order-functions

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	.ci/check-boundaries

format:
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

# Writes Documentation/netpath.1 anew from the definitions of the commands; `make test` fails when it is out of date.
man:
	NETPATH_UPDATE_MANUAL=1 $(SWIFT) test --filter theCommittedPageIsUpToDate

# Writes Scenarios.md of the documentation anew from the table of Tests/ComparisonTests, likewise.
scenarios:
	NETPATH_UPDATE_SCENARIOS=1 $(SWIFT) test --filter ComparisonPageTests

# The programs, their manual, their completions for bash, zsh and fish, and what is there to copy from: the default
# configuration and a unit of systemd.
install: SHARE = $(DESTDIR)$(PREFIX)/share
install: build
	install -D -m 755 .build/release/netpath $(DESTDIR)$(PREFIX)/bin/netpath
	install -D -m 755 .build/release/netpath-queue $(DESTDIR)$(PREFIX)/bin/netpath-queue
	install -D -m 644 Documentation/netpath.1 $(SHARE)/man/man1/netpath.1
	ln -sf netpath.1 $(SHARE)/man/man1/netpath-queue.1
	install -D -m 644 Config/netpath.yaml $(SHARE)/doc/netpath/netpath.yaml
	install -D -m 644 Config/netpath.schema.json $(SHARE)/doc/netpath/netpath.schema.json
	install -D -m 644 Config/systemd/netpath-queue.service $(SHARE)/doc/netpath/netpath-queue.service
	for shell in bash zsh fish; do .build/release/netpath completion $$shell >.build/netpath.$$shell || exit 1; done
	install -D -m 644 .build/netpath.bash $(SHARE)/bash-completion/completions/netpath
	install -D -m 644 .build/netpath.zsh $(SHARE)/zsh/site-functions/_netpath
	install -D -m 644 .build/netpath.fish $(SHARE)/fish/vendor_completions.d/netpath.fish

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
