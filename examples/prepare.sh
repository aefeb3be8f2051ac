# shellcheck shell=bash
# For the scripts of the examples, which source it in their folder with a name: makes the empty folder $build, and finds the program $dunnage.
root=$(cd ../.. && pwd)
build=$root/target/examples/$1
rm -rf "$build"
mkdir -p "$build"
[ -n "${DUNNAGE_BIN-}" ] || cargo build --quiet --package dunnage
dunnage=${DUNNAGE_BIN:-${CARGO_TARGET_DIR:-$root/target}/debug/dunnage}

# address PATTERN FILE: waits for a line of FILE with PATTERN, and prints the address in it.
address() {
    for _ in $(seq 100); do
        grep -a -- "$1" "$2" 2>/dev/null | grep -oE '127\.0\.0\.1:[0-9]+' && return
        sleep 0.1
    done
    cat "$2"
    exit 1
}
