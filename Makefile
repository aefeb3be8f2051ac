# A menu. `make` or `make help` prints it.

.PHONY: help run test lint fmt audit bench bench-host bench-load bench-mcu fuzz docs

# What measuring on a simulated AVR needs; the compiler itself comes from PyPI.
AVR = cc:build-essential pip3:python3-pip /usr/include/simavr/sim_avr.h:libsimavr-dev /usr/include/libelf.h:libelf-dev

help:  ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*##/\t/' | expand -t 14

run:  ## build, start the gateway on its defaults, and let 50 simulated containers report to it
	cargo run --release -- demo

test: lint  ## everything that must hold: vectors, properties, faults, fuzz corpora, the page in a browser
	.ci/need chromium:chromium curl:curl node:nodejs npm:npm $(AVR)
	cargo test
	cargo test --release -p dunnage-bench-mcu
	cargo run --release -p dunnage-bench-mcu -- budget
	cd dashboard/tests && npm ci && npm test

lint:  ## formatting and clippy
	.ci/need cc:build-essential
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

fmt:  ## format the code
	cargo fmt --all

audit:  ## licences and sources of the dependencies (needs cargo-deny)
	cargo deny check licenses bans sources

bench: bench-host bench-load bench-mcu  ## speed against the peers; results in bench/results/

bench-host:  ## the PSON codec against other serde formats
	cargo bench -p dunnage-bench-host
	cargo run --release -p dunnage-bench-host

bench-load:  ## the gateway against a bare axum + SQLite probe, then kill -9 under load
	.ci/need wrk:wrk
	cargo run --release -p dunnage-bench-load

bench-mcu:  ## the device library and its peers on simulated microcontrollers
	.ci/need $(AVR) nanopb_generator.py:nanopb protoc:protobuf-compiler xtensa-lx106-elf-gcc:gcc-xtensa-lx106 \
	    arm-none-eabi-gcc:gcc-arm-none-eabi /usr/lib/arm-none-eabi/newlib:libnewlib-arm-none-eabi qemu-system-arm:qemu-system-arm \
	    riscv64-unknown-elf-gcc:gcc-riscv64-unknown-elf /usr/lib/picolibc:picolibc-riscv64-unknown-elf qemu-system-riscv32:qemu-system-misc
	cargo run --release -p dunnage-bench-mcu

fuzz:  ## fuzz every decoder for a minute each (needs the nightly toolchain and cargo-fuzz)
	for target in $$(cargo +nightly fuzz list); do cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done

docs:  ## write the generated tables and golden files again
	BLESS=1 cargo test -p dunnage
