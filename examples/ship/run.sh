#!/bin/bash
# Twenty sensors on a ship publish over MQTT to a gateway on board, which relays to a gateway ashore: over a satellite that loses every third transmission while it is at sea, and
# over HTTP in port. Fails unless each reading arrives once and in order. Prints what the satellite carried, beside what JSON would have cost. Needs curl, mosquitto_pub and Python.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../prepare.sh ship
cd "$build"
readings=12

mkdir schemas ashore ship
cp "$here/hold.json" schemas/
python3 -c '
import json
print(json.dumps({f"hold-{n}": {"number": n, "slot": 21} for n in range(1, 21)}))' >ship-7.json
openssl rand -hex 32 >operator.token

cat >ashore.toml <<'END'
[http]
listen = "127.0.0.1:0"
[buffer]
path = "ashore/buffer.sqlite3"
[schemas]
path = "schemas"
[[profile]]
device = "ship-7"
relay = "ship-7.json"
[[profile]]
device = "hold-*"
schema = "hold"
[[input]]
name = "operator"
[input.webhook]
provider = "generic"
token_file = "operator.token"
devices = "ship-7"
[input.webhook.pointers]
device = "/terminal"
payload = "/data"
encoding = "hex"
[[output]]
name = "files"
[output.files]
path = "ashore/files"
kind = "ndjson"
END

# start CONFIGURATION LOG: starts a gateway, and sets $url to its address.
gateways=()
start() {
    "$dunnage" gateway --config "$1" 2>"$2" &
    gateways+=($!)
    # shellcheck disable=SC2064
    trap "kill ${gateways[*]} 2>/dev/null || true" EXIT
    url=http://$(address 'gateway started' "$2")
}
start ashore.toml ashore.log
ashore=$url

# The modem and its operator: every third transmission fails, half of these after the batch has arrived.
cat >satellite.sh <<END
#!/bin/bash
set -eu
cd "$build"
data=\$(od -An -v -tx1 | tr -d ' \n')
count=\$((\$(cat transmissions 2>/dev/null || echo 0) + 1))
echo \$count >transmissions
[ \$((count % 6)) != 3 ] || { echo "no answer from the satellite" >&2; exit 1; }
echo "\$((\${#data} / 2))" >>sent.txt
curl --fail -sS -H "Authorization: Bearer \$(cat operator.token)" --json "{\"terminal\":\"ship-7\",\"data\":\"\$data\"}" $ashore/hooks/operator
[ \$((count % 6)) != 0 ] || { echo "the connection broke" >&2; exit 1; }
END
chmod +x satellite.sh

cat >ship.toml <<END
[http]
listen = "127.0.0.1:0"
[buffer]
path = "ship/buffer.sqlite3"
[schemas]
path = "schemas"
[[profile]]
device = "hold-*"
schema = "hold"
[[input]]
name = "mqtt"
[input.mqtt]
listen = "127.0.0.1:0"
[[output]]
name = "shore"
[output.relay]
numbers = "ship-7.json"
readings = 40
wait_seconds = 1
times = false
[[output.relay.link]]
name = "port"
http = { url = "http://127.0.0.1:PORT/ingest/ship-7" }
[[output.relay.link]]
name = "satellite"
limit_bytes = 340
exec = { command = ["$build/satellite.sh"] }
END
# At sea, nothing answers at the address of the port's network.
sed -i 's/127.0.0.1:PORT/127.0.0.1:9/' ship.toml
"$dunnage" gateway check --config ship.toml
"$dunnage" gateway check --config ashore.toml
start ship.toml ship.log
mqtt=$(address 'listens.*mqtt' ship.log)

# publish FROM UNTIL: each sensor publishes its readings with these numbers.
publish() {
    for sensor in $(seq 20); do
        python3 "$here/sensor.py" "$sensor" "$1" "$2" | tee -a "sent-hold-$sensor.ndjson" |
            mosquitto_pub -h "${mqtt%:*}" -p "${mqtt#*:}" -q 1 -t "v1/hold-$sensor/json" -l
    done
}

# arrived COUNT: waits until the gateway ashore has so many readings.
arrived() {
    for _ in $(seq 300); do
        [ "$(cat ashore/files/*.ndjson 2>/dev/null | wc -l)" -lt "$1" ] || return 0
        sleep 0.1
    done
    cat ship.log
    exit 1
}

publish 0 $((readings / 2))
arrived $((20 * readings / 2))
at_sea=$(wc -l <sent.txt)
# In port: the same gateway, and a link that is cheaper.
kill "${gateways[1]}"
wait "${gateways[1]}" || true
sed -i "s,http://127.0.0.1:9,$ashore," ship.toml
start ship.toml ship.log
mqtt=$(address 'listens.*mqtt' ship.log)
publish $((readings / 2)) $readings
arrived $((20 * readings))
[ "$(wc -l <sent.txt)" = "$at_sea" ]
python3 "$here/count.py"
