#!/bin/bash
# Decodes the message of the simulated firmware with the libraries in Rust, Python, JavaScript and Java. Fails if one of them has another message than the schema's
# example. Run ./run.sh first; needs the libraries that `make test-python test-js test-java` build.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
build=$root/target/examples/weather-station
dunnage=${CARGO_TARGET_DIR:-$root/target}/debug/dunnage
hex=$(cat "$build/message.hex")

"$dunnage" schema layout station.json --json >"$build/station.layout.json"
"$dunnage" convert --from packed --to json --schema station.json --hex <<<"$hex" >"$build/rust.json"
"$root/target/tools/bindings/bin/python" languages/decode.py station.json "$hex" >"$build/python.json"
node languages/decode.mjs "$build/station.layout.json" "$hex" >"$build/javascript.json"
java -cp "$root/java/packed/target/classes" languages/Decode.java "$build/station.layout.json" "$hex" >"$build/java.json"
for language in rust python javascript java; do
    node languages/compare.mjs "$language" "$build/$language.json" station.json
done
