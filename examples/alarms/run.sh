#!/bin/bash
# Sends messages of two containers through a gateway with the alarms of alarms.toml, with a restart in the middle, and prints the alarms. Fails unless each
# is reported once. Needs curl and Node.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../prepare.sh alarms
cd "$build"

node "$here/receive.mjs" >received.txt &
receiver=$!
trap 'kill $receiver' EXIT
address=$(address 'listens on' received.txt)
printf '[http]\nlisten = "127.0.0.1:0"\n[buffer]\npath = "buffer.sqlite3"\n' | cat - "$here/alarms.toml" | sed "s/RECEIVER/$address/" >dunnage.toml
"$dunnage" gateway check --config dunnage.toml

start() {
    "$dunnage" gateway --config dunnage.toml 2>gateway.log &
    gateway=$!
    trap 'kill $gateway $receiver' EXIT
    url=http://$(address 'gateway started' gateway.log)
}

# send DEVICE JSON...: sends messages.
send() {
    local device=$1 message
    shift
    for message in "$@"; do
        curl --fail-with-body -sS "$url/ingest/$device" --json "$message"
    done
}

# settle: waits until both outputs have resolved all messages.
settle() {
    for _ in $(seq 100); do
        curl -sS "$url/api/stats" | grep -o '"lag_messages":[0-9]*' | grep -qv ':0$' || return 0
        sleep 0.1
    done
    exit 1
}

start
"$dunnage" gateway device add box-1 --tag site=hamburg --config dunnage.toml
send box-1 '{"temperature":5.5}' '{"temperature":8.5}' '{"temperature":9}' '{"temperature":7}' '{"temperature":9.25}'
send box-2 '{"position":{"lat":53.5465,"lon":9.9671}}' '{"position":{"lat":53.5561,"lon":9.9661}}'
settle
kill $gateway
wait $gateway
start
send box-1 '{"temperature":9.5}' '{"temperature":5.75}' '{"temperature":8.75}'
send box-2 '{"position":{"lat":53.5562,"lon":9.9661}}' '{"position":{"lat":53.5500,"lon":9.9661}}' '{}' '{"position":{"lat":53.5461,"lon":9.9662}}'
settle
"$dunnage" gateway output try away --last 5 --config dunnage.toml
sort received.txt | grep -v listens | tee alarms.txt
cat >expected.txt <<'END'
{"alarm":"away","device":"box-2","meters":1112}
{"alarm":"warm","device":"box-1","site":"hamburg","temperature":8.5}
{"alarm":"warm","device":"box-1","site":"hamburg","temperature":8.75}
END
diff expected.txt alarms.txt
sleep 1
curl -sS "$url/metrics" | grep '^dunnage_silent_devices 2$'
echo "each alarm was reported once, and both devices are silent now"
