#!/bin/bash
# Sends the readings of a simulated ATmega328P in the fewest bytes: with statistics, and as deltas against the last reading that the gateway
# acknowledged. The network between them loses messages and acknowledgements, the gateway is killed and the station loses its memory. Fails if the API
# has other readings than those that arrived. Needs avr-gcc, avr-libc, libsimavr, libelf, a C compiler, and what tests/tools/install installs.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")"
. ../prepare.sh weather-station-lossy
mkdir "$build/schemas"
python=${DUNNAGE_TOOLS:-$root/target/tools}/venv/bin/python

echo "1. statistics from the readings of four weeks, and C for the prior form and deltas"
"$python" lossy/readings.py "$build"
"$dunnage" schema train "$build/training.ndjson" --schema station.json -o "$build/schemas/station.json"
"$dunnage" generate c --modes --schema "$build/schemas/station.json" -o "$build"

echo "2. the firmware"
avr-gcc -mmcu=atmega328p -DF_CPU=16000000UL -Os -flto -std=c99 -Wall -Wextra -Werror -I"$build" \
    lossy/main.c "$build/station.c" "$build/dunnage_message.c" -o "$build/firmware.elf"
avr-size "$build/firmware.elf"
cc -O2 -I/usr/include/simavr "$root/c/tests/avr/simulate.c" -lsimavr -lelf -o "$build/simulate"

echo "3. 120 readings over a network that loses 30 % of the messages, and 30 % of the acknowledgements"
cat >"$build/dunnage.toml" <<END
[http]
listen = "127.0.0.1:0"
[buffer]
path = "$build/buffer.sqlite3"
[schemas]
path = "$build/schemas"
[access]
who = "tokens"
[[input]]
name = "coap"
[input.coap]
listen = "127.0.0.1:0"
END
"$dunnage" gateway token new --device roof --name roof --config "$build/dunnage.toml" >"$build/roof.token" 2>/dev/null
"$dunnage" gateway token new --read --name reader --config "$build/dunnage.toml" >"$build/reader.token" 2>/dev/null
timeout 120 "$python" lossy/run.py "$build" "$dunnage"
