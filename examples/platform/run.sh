#!/bin/bash
# Sends uplinks of ChirpStack through a broker and a gateway to PostgreSQL, and runs each query of the dashboard there. Fails unless the rows are
# those that were sent. Needs mosquitto, mosquitto_pub, PostgreSQL, curl, and the Python of tests/tools.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../prepare.sh platform
cp -r "$here"/{dunnage.toml,database.sql,devices.csv,codecs,schemas} "$build"
cd "$build"
python=${DUNNAGE_TOOLS:-$root/target/tools}/venv/bin/python
postgres=$(dirname "$(find /usr/lib/postgresql -name initdb | sort -V | tail -1)")
mosquitto=$(PATH=$PATH:/usr/sbin command -v mosquitto)
data=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$data"' EXIT

# free_port: prints a port that nobody has.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# until_it COMMAND...: repeats a command until it succeeds.
until_it() {
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "not in time: $*"
    exit 1
}

# PostgreSQL refuses to run as root.
as=()
if [ "$(id -u)" = 0 ]; then
    chown nobody "$data"
    as=(setpriv --reuid nobody --regid nogroup --clear-groups)
fi
broker=$(free_port)
database=$(free_port)
http=$(free_port)
(cd "$data" && "${as[@]}" "$postgres/initdb" --username=postgres --auth=trust --encoding=UTF8 --no-locale --no-sync -D "$data/db" >/dev/null)
(cd "$data" && exec "${as[@]}" "$postgres/postgres" -D "$data/db" -k "$data" -h 127.0.0.1 -p "$database" 2>"$build/postgres.log") &
pids+=($!)
"$mosquitto" -p "$broker" 2>mosquitto.log >&2 &
pids+=($!)
# psql_as ROLE DATABASE ARGUMENT...: runs psql.
psql_as() { "$postgres/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 -At "postgresql://$1@127.0.0.1:$database/$2" "${@:3}"; }
until_it psql_as postgres postgres -c 'SELECT 1'
psql_as postgres postgres -f database.sql

sed -i "s/:8080/:$http/; s/:1883/:$broker/; s/:5432/:$database/" dunnage.toml
"$dunnage" gateway check --config dunnage.toml
"$dunnage" gateway --config dunnage.toml 2>gateway.log &
pids+=($!)
address 'gateway started' gateway.log >/dev/null
"$dunnage" gateway device import devices.csv --config dunnage.toml
"$dunnage" generate grafana --schema schemas/room.json -o .
cmp room.dashboard.json "$here/grafana/dashboards/room.dashboard.json"

# uplink DEVEUI NUMBER BYTES: publishes an uplink as ChirpStack does.
uplink() {
    mosquitto_pub -p "$broker" -q 1 -t "application/a/device/$1/event/up" -m \
        '{"deduplicationId":"'"$1-$2"'","deviceInfo":{"applicationName":"rooms","deviceProfileName":"AM102","devEui":"'"$1"'"},"fCnt":'"$2"',"fPort":85,"data":"'"$3"'"}'
}
# has ROWS: whether the table has so many rows.
has() { [ "$(psql_as grafana telemetry -c 'SELECT count(*) FROM room')" = "$1" ]; }
# The first one, 21.5 °C, 45 %, 99 %, may come before the gateway has subscribed. It is stored once however often it comes.
first() { uplink 70b3d57ed005a1b2 1 ANdaYw== && sleep 0.2 && has 1; }
until_it first
uplink 70b3d57ed005a1b2 2 AOFaYg== # 22.5 °C, 45 %, 98 %
uplink 70b3d57ed005a1b3 1 //ZkZA== # -1.0 °C, 50 %, 100 %
uplink 70b3d57ed005a1b4 1 AAAUMg== # 0.0 °C, 10 %, 50 %
until_it has 4
# One device has been silent for two hours.
psql_as dunnage telemetry -c "UPDATE room SET _received_at = _received_at - interval '2 hours' WHERE _device = 'room-301'"
"$python" "$here/check.py" "$here/grafana" "$postgres/psql" "postgresql://grafana@127.0.0.1:$database/telemetry"
