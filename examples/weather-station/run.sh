#!/bin/bash
# Derives both ends from one schema: generated C packs a message on a simulated ATmega328P; the gateway and the decoder of a LoRaWAN network decode
# it. Fails if any of them has another message than the schema's example. Needs avr-gcc, avr-libc, simavr, curl and node.
set -euo pipefail
cd "$(dirname "$0")"
. ../prepare.sh weather-station

echo "1. C and JavaScript from station.json; every message fits Kinéis"
"$dunnage" generate c --schema station.json --link kineis -o "$build"
"$dunnage" generate ts013 --schema station.json -o "$build"

echo "2. the firmware"
avr-gcc -mmcu=atmega328p -DF_CPU=16000000UL -Os -flto -std=c99 -Wall -Wextra -Werror -I"$build" \
    main.c "$build/station.c" "$build/dunnage_message.c" -o "$build/firmware.elf"
avr-size "$build/firmware.elf"

echo "3. what it sends"
hex=$(timeout 60 simavr -m atmega328p -f 16000000 "$build/firmware.elf" 2>&1 | grep -aoE '[0-9a-f]{8,}' | head -1)
echo "$hex: $((${#hex} / 2)) bytes"
echo "$hex" >"$build/message.hex"

echo "4. POST to the gateway, and what its API has"
export DUNNAGE_HTTP_LISTEN=127.0.0.1:0 DUNNAGE_BUFFER_PATH=$build/buffer.sqlite3 DUNNAGE_SCHEMAS_PATH=$PWD
"$dunnage" gateway 2>"$build/gateway.log" &
gateway=$!
trap 'kill $gateway' EXIT
address=$(address 'gateway started' "$build/gateway.log")
# shellcheck disable=SC2001  # each pair of digits becomes \xNN
printf %b "$(sed 's/../\\x&/g' <<<"$hex")" |
    curl -sS --fail -H 'Content-Type: application/vnd.dunnage.packed' --data-binary @- "http://$address/ingest/roof?schema=station"
curl -sS --fail "http://$address/api/devices/roof/messages?limit=1" >"$build/messages.json"

echo "5. the same bytes in the LoRaWAN decoder; all three against the schema's example"
node compare.js "$build" "$hex"
