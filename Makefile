# A menu. `make` or `make help` prints it.

.PHONY: help run dist check test test-fast build-tests test-crates budget test-page test-examples conform-built tools nightly test-c c-presets c-fuzz test-rust test-python test-js test-java test-jvm test-report conform lint fmt audit faults bench bench-link bench-lang bench-full report fuzz fuzz-c docs

LINT = cargo clippy --workspace --all-targets -- -D warnings

# The programs of the laboratory that tests run.
CONFORM = cargo run -p dunnage-conform --
PACKED = cargo run -p dunnage-conform --bin packed --
MCU = cargo run -p dunnage-bench-mcu --

# The machines of the device library's tests (c/CMakePresets.json).
PRESETS = gcc clang-asan cxx mips s390x avr

# In CI, each line of a recipe says how long it took and how much processor time, and crates are linted when they are compiled; `make nightly` lints bench/host.
ifdef CI
SHELL = .ci/timed
LINT =
# These are built with everything that is tested: built alone, their crates would be compiled again, with fewer features.
CONFORM = target/debug/conform
PACKED = target/debug/packed
MCU = target/debug/dunnage-bench-mcu
PROGRAMS = $(CONFORM) $(PACKED) $(MCU)
# Big-endian with 64 bits alone; `make nightly` adds 32.
PRESETS = gcc clang-asan cxx s390x avr
export RUSTC_WORKSPACE_WRAPPER = $(CURDIR)/.ci/rustc-and-clippy
export CLIPPY_ARGS = -Dwarnings__CLIPPY_HACKERY__
# Nothing is compiled twice there, and a panic names its line without debug information.
export CARGO_INCREMENTAL = 0
export CARGO_PROFILE_DEV_DEBUG = false
endif

# What measuring on a simulated AVR needs; the compiler itself comes from PyPI.
AVR = cc:build-essential pip3:python3-pip /usr/include/simavr/sim_avr.h:libsimavr-dev /usr/include/libelf.h:libelf-dev

# What the device library's tests need: two compilers, their sanitizers, and machines of other kinds.
C = $(AVR) cmake:cmake ninja:ninja-build pkg-config:pkgconf clang:clang \
    $(shell clang -print-runtime-dir 2>/dev/null):libclang-rt-dev qemu-mips:qemu-user \
    mips-linux-gnu-gcc:gcc-mips-linux-gnu /usr/mips-linux-gnu/lib/libc.a:libc6-dev-mips-cross \
    s390x-linux-gnu-gcc:gcc-s390x-linux-gnu /usr/s390x-linux-gnu/lib/libc.a:libc6-dev-s390x-cross \
    avr-gcc:gcc-avr /usr/lib/avr/include/avr/io.h:avr-libc /usr/share/arduino/hardware/arduino/avr:arduino-core-avr

# What tests/tools/install needs: Python that can make environments.
TOOLS = python3:python3 $(shell python3 -c 'import ensurepip; print(ensurepip.__file__)' 2>/dev/null):python3-venv

# What the rows of the fault table need: a database behind the CSE, a clock that jumps, brokers, a database of points.
FAULTS = java:default-jre-headless mvn:maven /usr/lib/postgresql:postgresql /usr/share/doc/libfaketime:libfaketime /usr/sbin/mosquitto:mosquitto /usr/bin/influxd:influxdb

# What the sketch for boards needs.
BOARD = $(AVR) avr-gcc:gcc-avr /usr/share/arduino/hardware/arduino/avr/platform.txt:arduino-core-avr riscv64-unknown-elf-gcc:gcc-riscv64-unknown-elf \
    /usr/lib/picolibc:picolibc-riscv64-unknown-elf qemu-system-riscv32:qemu-system-misc \
    xtensa-lx106-elf-gcc:gcc-xtensa-lx106 /usr/lib/xtensa-lx106-elf/picolibc.specs:picolibc-xtensa-lx106-elf

# What the benchmarks need.
BENCH = $(BOARD) $(TOOLS) /usr/lib/postgresql:postgresql wrk:wrk nginx:nginx node:nodejs npm:npm /usr/sbin/mosquitto:mosquitto coap-server-notls:libcoap3-bin nanopb_generator.py:nanopb \
    protoc:protobuf-compiler arm-none-eabi-gcc:gcc-arm-none-eabi /usr/lib/arm-none-eabi/newlib:libnewlib-arm-none-eabi qemu-system-arm:qemu-system-arm javac:default-jdk-headless mvn:maven chromium:chromium $(MIDDLEWARE)

# Many tests wait for a server, a timer or a compiler, so there are more threads than processors.
THREADS = RUST_TEST_THREADS=4

# What bench/middleware needs: servers, and the clients in C whose sizes it takes.
LIBRARIES = /usr/lib/x86_64-linux-gnu
MIDDLEWARE = ip:iproute2 openssl:openssl objdump:binutils /usr/lib/rabbitmq/bin/rabbitmq-server:rabbitmq-server $(LIBRARIES)/libcurl.so.4:libcurl4 \
    $(LIBRARIES)/libnghttp2.so.14:libnghttp2-14 $(LIBRARIES)/libcoap-3-openssl.so.3:libcoap3 $(LIBRARIES)/libmosquitto.so.1:libmosquitto1 \
    $(LIBRARIES)/libpaho-mqtt3c.so.1:libpaho-mqtt1.3 $(LIBRARIES)/librabbitmq.so.4:librabbitmq4 $(LIBRARIES)/libnats.so.3.4:libnats3.4 \
    $(LIBRARIES)/libwebsockets.so.17:libwebsockets17 $(LIBRARIES)/libgrpc.so.29:libgrpc29 $(LIBRARIES)/libddsc.so.0debian:libddsc0debian

# The packages that `make test` compiles. Compiled by itself, the Python library or bench/mcu would have its dependencies compiled again, with
# fewer features.
TESTED = --workspace --exclude dunnage-bench-host

# Runs the suites and builds the report.
LABORATORY = PYTHONPATH=bench/report target/tools/venv/bin/python -m laboratory

# How long `make fuzz` stays with each decoder.
SECONDS = 60

help:  ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*##/\t/' | expand -t 14

run:  ## build, start the gateway on its defaults, and let 50 simulated containers report to it
	@echo "The first time, this compiles some 400 crates with little optimization: about eight minutes on two cores. Then http://127.0.0.1:8080 is the page."
	cargo run -p dunnage -- demo

dist:  ## the full program as one static file, its Debian package, and the packages of all libraries, each tried in an empty folder: target/dist
	.ci/dist
	.ci/dist-libraries

check: lint  ## format, lint, unit and vector tests; needs Rust, a C compiler, Python, Node and git
	cargo test --lib --test pson --test hostile --test packed --test spec -- --skip suite::
	cargo test --doc

test:  ## everything that must hold: vectors, properties, faults, fuzz corpora, the page in a browser
	.ci/need chromium:chromium curl:curl openssl:openssl gzip:gzip zstd:zstd strace:strace systemd-analyze:systemd node:nodejs npm:npm simavr:simavr /usr/lib/avr/include/avr/io.h:avr-libc clang:clang \
	    arm-none-eabi-gcc:gcc-arm-none-eabi /usr/lib/arm-none-eabi/newlib:libnewlib-arm-none-eabi \
	    $(BOARD) $(TOOLS) $(FAULTS) mosquitto_pub:mosquitto-clients coap-client-notls:libcoap3-bin coap-client-openssl:libcoap3-bin coap-client-gnutls:libcoap3-bin /usr/sbin/nginx:nginx \
	    /usr/lib/nginx/modules/ngx_stream_module.so:libnginx-mod-stream promtool:prometheus
	.ci/together "test-rust build-tests" "lint audit" tools c-presets
	.ci/together test-crates "test-java test-js test-python c-fuzz"
	.ci/together test-page "conform-built test-examples budget"

test-fast:  ## the tests of the crates that start no other program; needs Rust and a C compiler
	$(THREADS) tests/fast $(TESTED) --exclude dunnage-python

# While the compiler needs both processors, the others of the first group wait for the network; while tests wait for servers, timers and the
# browser, the other groups need one processor.
build-tests:
	cargo test --no-run $(TESTED)

test-crates:
	$(THREADS) cargo test --no-fail-fast $(TESTED)

budget:
	$(MCU) budget

test-page:
	cd dashboard/tests && npm ci && npm test

test-examples:
	cd crates/codegen/tests/ts013 && npm ci && npm test
	DUNNAGE_BIN=$(CURDIR)/target/debug/dunnage examples/weather-station/run.sh
	examples/weather-station/languages.sh
	DUNNAGE_BIN=$(CURDIR)/target/debug/dunnage examples/weather-station/lossy.sh
	DUNNAGE_BIN=$(CURDIR)/target/debug/dunnage examples/inputs/run.sh
	DUNNAGE_BIN=$(CURDIR)/target/debug/dunnage examples/backend/run.sh
	DUNNAGE_BIN=$(CURDIR)/target/debug/dunnage examples/alarms/run.sh
	DUNNAGE_BIN=$(CURDIR)/target/debug/dunnage examples/platform/run.sh
	DUNNAGE_BIN=$(CURDIR)/target/debug/dunnage examples/ship/run.sh

tools:
	tests/tools/install
	tests/tools/install bindings

nightly:  ## long fault runs, mutated frames, attacks, fuzzing, Kafka, changes of the crates' API, the Python wheels; writes target/nightly.md
	.ci/nightly

# `make test-rust` has built them before, unless CI runs one of these targets alone.
budget test-python test-java test-js c-fuzz fuzz-c conform-built: $(PROGRAMS)
$(PROGRAMS):
	cargo build $(TESTED) --lib --bins --examples

test-rust:  ## the crates for crates.io: the codec of PSON without the standard library, the examples, and whether they can be packed; the programs of the laboratory
	.ci/need rustup:rustup python3:python3
	rustup target add thumbv6m-none-eabi
	cargo build -p dunnage-pson --no-default-features --target thumbv6m-none-eabi
	cargo build $(TESTED) --lib --bins --examples
	for example in crates/*/examples/*.rs; do target/debug/examples/$$(basename $$example .rs) </dev/null >/dev/null || exit 1; done
	echo '{"station":"PISA01","time":"2026-03-29T12:00:00Z","temperature":14.3,"humidity":62,"pressure":1016.8}' | target/debug/examples/validate weather
	.ci/publish

test-python:  ## the Python library: all vectors, hostile input, Arrow, types, and 20,000 messages compared with the codec in Rust
	.ci/need $(TOOLS)
	tests/tools/install bindings
	bindings/python/build dev
	bindings/python/check
	$(CONFORM) --messages 20000 target/tools/bindings/bin/python bindings/python/tests/executor.py

bench-lang:  ## the libraries in Python, JavaScript and Java beside their peers: tables, and bench/results/lang-*.jsonl
	.ci/need $(TOOLS) node:nodejs npm:npm javac:default-jdk-headless mvn:maven
	bindings/python/bench/run
	js/bench/run
	java/bench/run

test-java:  ## the Java libraries: vectors, hostile input; random schemas and messages
	.ci/need javac:default-jdk-headless mvn:maven
	mvn --batch-mode --no-transfer-progress --file java/pom.xml verify
	$(CONFORM) --messages 20000 java -cp java/pson-core/target/classes:java/pson-core/target/test-classes dev.dunnage.pson.Executor
	$(PACKED) --schemas 50 --messages 20000 --modelled --library java -cp java/packed/target/classes:java/packed/target/test-classes dev.dunnage.packed.Executor

# The program with the features of the tests: built alone, its crates would be compiled again, which takes minutes.
test-jvm:  ## the benchmarks of JVM libraries: exact sizes, and the round trip of every serializer; the application for Android
	.ci/need javac:default-jdk-headless mvn:maven
	cargo test --no-run $(TESTED) --test cli
	mvn --quiet --batch-mode --file java/pom.xml -Pbench-jvm,bench-phone -pl ../bench/jvm,../bench/phone/android -am package

test-report:  ## the runner and the report of the benchmarks, the notebook, what the middleware study computes
	.ci/need $(TOOLS) chromium:chromium
	tests/tools/install laboratory
	PYTHONPATH=bench/report target/tools/venv/bin/python -m pytest --quiet bench/report/tests
	PYTHONPATH=bench/middleware target/tools/venv/bin/python -m pytest --quiet bench/middleware/tests

test-c: c-presets c-fuzz  ## the device library: two compilers, as C++, sanitizers, fuzzing, big-endian, ATmega328P; its stack

c-presets:
	.ci/need $(C)
	cd c && for preset in $(PRESETS); do cmake --workflow --preset $$preset || exit 1; done
	c/tests/stack.sh

c-fuzz:
	.ci/need $(C)
	$(CONFORM) --seeds c/build/fuzz/seeds
	cd c && cmake --workflow --preset fuzz

test-js:  ## the JavaScript libraries: vectors, hostile input, properties, types, the tarballs in an empty folder; random messages; the page for phones
	.ci/need node:nodejs npm:npm cc:build-essential chromium:chromium
	cd js && npm ci && npm test
	cd bench/phone && npm ci && npm test
	$(CONFORM) --messages 20000 node js/pson/conform/executor.js
	$(PACKED) --schemas 50 --messages 20000 --library node js/packed/conform/executor.js

conform: test-c conform-built  ## ask the device library all vectors and random messages, on four machines; generated code, random schemas

conform-built:
	$(CONFORM) --messages 20000 c/build/gcc/tests/conform
	$(if $(filter mips,$(PRESETS)),$(CONFORM) --messages 4000 qemu-mips c/build/mips/tests/conform)
	$(CONFORM) --messages 4000 qemu-s390x c/build/s390x/tests/conform
	$(CONFORM) --messages 2000 c/build/gcc/tests/simulate atmega328p c/build/avr/tests/conform
	$(PACKED) --schemas 10 --messages 10000

lint:  ## formatting, circular dependencies of modules, clippy, Python, JavaScript with the types of the page, shell scripts, workflows, and Internet-Drafts
	.ci/need cc:build-essential $(TOOLS) git:git node:nodejs npm:npm
	tests/tools/install lint drafts
	git grep -lIE '^#!/bin/(ba)?sh' -- ':!*.rs' | xargs target/tools/lint/bin/shellcheck
	target/tools/bin/actionlint -shellcheck=target/tools/lint/bin/shellcheck
	target/tools/lint/bin/ruff check --quiet
	target/tools/lint/bin/ruff format --check --quiet
	docs/drafts/build
	cd dashboard/tests && npm ci --silent && npm run --silent lint
	cargo fmt --all --check
	.ci/circles
	$(LINT)

fmt:  ## format the code
	cargo fmt --all
	tests/tools/install lint
	target/tools/lint/bin/ruff format --quiet

audit:  ## licences, bans, sources and, where RustSec's database can be had, advisories of the dependencies
	.ci/need python3:python3 git:git
	python3 .ci/audit_test.py
	.ci/audit

faults:  ## kill, slow down, fill up and damage everything, and count the messages; writes docs/faults.md
	.ci/need $(TOOLS) $(FAULTS)
	tests/tools/install
	FAULTS=long cargo test -p dunnage --test faults

bench:  ## a quick form of all benchmarks, in some 20 minutes from a warm build, and their report; SUITES="host load" for some of them
	.ci/need $(BENCH)
	tests/tools/install laboratory locust
	$(LABORATORY) run $(SUITES)

bench-link:  ## bytes of packed messages on lossy links, of series of readings and against vendors' layouts, and the gateway's rate of deltas, beside their goals
	.ci/need wrk:wrk
	cargo run --release -p dunnage-bench-link
	cargo run --release -p dunnage-bench-load -- deltas

bench-full:  ## the long form of all benchmarks, in some hours, and their report
	.ci/need $(BENCH)
	tests/tools/install laboratory locust
	$(LABORATORY) run --full $(SUITES)

report:  ## the report of the last benchmarks: target/report/index.html and report.pdf
	.ci/need $(TOOLS) chromium:chromium
	tests/tools/install laboratory
	$(LABORATORY) report

fuzz: fuzz-c  ## fuzz every decoder, a minute each; SECONDS=1800 for longer (needs the nightly toolchain and cargo-fuzz)
	for target in $$(cargo +nightly fuzz list); do cargo +nightly fuzz run $$target -- -max_total_time=$(SECONDS) || exit 1; done

fuzz-c:  ## fuzz the device library alone, and compare it on a million messages
	.ci/need $(C)
	$(CONFORM) --seeds c/build/fuzz/seeds
	cd c && cmake --preset fuzz -DDUNNAGE_FUZZ_SECONDS=$(SECONDS) && cmake --build --preset fuzz && ctest --preset fuzz --verbose
	cd c && cmake --preset gcc && cmake --build --preset gcc
	cargo run --release -p dunnage-conform -- --messages 1000000 c/build/gcc/tests/conform

docs:  ## write the generated tables and golden files again, and the Internet-Drafts into target/docs/drafts
	BLESS=1 cargo test -p dunnage
	BLESS=1 cargo test -p dunnage-gateway --test gateway metrics::
	BLESS=1 cargo test -p dunnage-codegen --test codegen
	BLESS=1 cargo test -p dunnage-conform --test conform packages::
	c/tests/arduino/run.sh target/arduino bless
	c/tests/stack.sh > c/docs/stack.txt
	.ci/need $(TOOLS)
	tests/tools/install drafts
	docs/drafts/build
