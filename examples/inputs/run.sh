#!/bin/bash
# Sends one message through each input of the gateway, with third-party clients: without a token, with a wrong one and with the right one. Prints the
# output of each client, and fails if it is not the expected one. Needs curl, coap-client-notls and -openssl, mosquitto_pub, openssl.
set -euo pipefail
cd "$(dirname "$0")"
. ../prepare.sh inputs
cd "$build"

# try EXPECTED COMMAND...: runs the command, and fails unless its output contains EXPECTED.
try() {
    local expected=$1 said
    shift
    printf '$ %s\n' "$*"
    said=$("$@" 2>&1 | tr -d '\r' | grep -aivE '^(date|content-length|x-request-id|cache-control|x-content-type-options|vary):|^$' || true)
    printf '%s\n' "${said:-(nothing)}" | sed 's/^/    /'
    grep -qF -- "$expected" <<<"${said:-(nothing)}" || { echo "expected: $expected"; exit 1; }
}

openssl genrsa -out signer.pem 2048 2>/dev/null
openssl rsa -in signer.pem -pubout -out signer.pub.pem 2>/dev/null
openssl rand -hex 32 >provider.token
cat >dunnage.toml <<'END'
[http]
listen = "127.0.0.1:0"
[buffer]
path = "buffer.sqlite3"
[access]
who = "tokens"
[[input]]
name = "coap"
[input.coap]
listen = "127.0.0.1:0"
[[input]]
name = "coaps"
[input.coap]
listen = "127.0.0.1:0"
dtls = true
[[input]]
name = "mqtt"
[input.mqtt]
listen = "127.0.0.1:0"
[[input]]
name = "udp"
[input.udp]
listen = "127.0.0.1:0"
[[input]]
name = "rockblock"
[input.webhook]
provider = "rockblock"
key_file = "signer.pub.pem"
format = "json"
devices = "300234010753*"
END
for provider in astrocast chirpstack the-things-stack; do
    printf '[[input]]\nname = "%s"\n[input.webhook]\nprovider = "%s"\ntoken_file = "provider.token"\nformat = "json"\n' $provider $provider >>dunnage.toml
done
"$dunnage" gateway check --config dunnage.toml
"$dunnage" gateway token new --device 'buoy-*' --name buoys --config dunnage.toml >buoys.token 2>/dev/null
"$dunnage" gateway token new --read --name reader --config dunnage.toml >reader.token 2>/dev/null
"$dunnage" gateway key new --device 'buoy-*' --name buoys --config dunnage.toml >buoys.key 2>/dev/null
"$dunnage" gateway --config dunnage.toml 2>gateway.log &
gateway=$!
trap 'kill $gateway' EXIT
url=http://$(address 'gateway started' gateway.log)
coap=coap://$(address 'listens.*coap\b' gateway.log)
coaps=coaps://$(address 'listens.*coaps' gateway.log)
mqtt=$(address 'listens.*mqtt' gateway.log)
udp=$(address 'listens.*udp' gateway.log)
token=$(cat buoys.token)
provider=$(cat provider.token)

echo "HTTP, with curl"
send=(curl -sSi -H 'Content-Type: application/json' -d '{"t":1}')
try 'a token is required' "${send[@]}" "$url/ingest/buoy-1"
try 'HTTP/1.1 401' "${send[@]}" -H 'Authorization: Bearer wrong' "$url/ingest/buoy-1"
try 'HTTP/1.1 403' "${send[@]}" -H "Authorization: Bearer $token" "$url/ingest/ship-1"
try 'HTTP/1.1 204' "${send[@]}" -H "Authorization: Bearer $token" "$url/ingest/buoy-1"

echo "CoAP, with libcoap's client"
send=(coap-client-notls -B 10 -m post -t 50 -e '{"t":2}')
try '4.01' "${send[@]}" "$coap/ingest/buoy-2"
try '4.01' "${send[@]}" "$coap/ingest/buoy-2?token=wrong"
try '4.03' "${send[@]}" "$coap/ingest/ship-2?token=$token"
try '(nothing)' "${send[@]}" "$coap/ingest/buoy-2?token=$token"

echo "CoAP over DTLS, with libcoap's client and OpenSSL"
send=(coap-client-openssl -B 10 -m post -t 50 -e '{"t":2}')
try 'tlsv1 alert decrypt error' "${send[@]}" -u buoys -k a-key-of-somebody-else "$coaps/ingest/buoy-6"
try 'tlsv1 alert decrypt error' "${send[@]}" -u nobody -k a-key-of-somebody-else "$coaps/ingest/buoy-6"
try '4.03' "${send[@]}" -u buoys -k "$(cat buoys.key)" "$coaps/ingest/ship-6"
try '(nothing)' "${send[@]}" -u buoys -k "$(cat buoys.key)" "$coaps/ingest/buoy-6"

echo "MQTT 3.1.1 and 5, with mosquitto's client"
send=(mosquitto_pub -h 127.0.0.1 -p "${mqtt##*:}" -q 1 -m '{"t":3}')
try 'not authorised' "${send[@]}" -t v1/buoy-3/json
try 'Not authorized' "${send[@]}" -V 5 -u any -P wrong -t v1/buoy-3/json
try 'Not authorized' "${send[@]}" -V 5 -u any -P "$token" -t v1/ship-3/json
try '(nothing)' "${send[@]}" -u any -P "$token" -t v1/buoy-3/json
try '(nothing)' "${send[@]}" -V 5 -u any -P "$token" -t v1/buoy-4/json

echo "UDP: only allowed networks, no answer"
try '(nothing)' bash -c "printf '{\"containerID\":\"buoy-5\",\"t\":5}' >/dev/udp/${udp/:/\/}"

echo "Webhooks, with requests in the format of their providers"
data=$(printf '{"t":6}' | base64)
declare -A body=(
    [astrocast]='{"messageGuid":"m-1","deviceGuid":"sat-1","createdDate":"2026-11-21T10:00:00Z","latitude":36.14,"longitude":-5.35,"data":"'$data'"}'
    [chirpstack]='{"deduplicationId":"m-1","time":"2026-11-21T10:00:00Z","deviceInfo":{"devEui":"70b3d57ed005a1b2"},"fPort":2,"data":"'$data'"}'
    [the-things-stack]='{"end_device_ids":{"device_id":"roof","dev_eui":"70B3D57ED005A1B3"},"correlation_ids":["as:up:m-1"],"uplink_message":{"f_port":2,"f_cnt":1,"session_key_id":"k","frm_payload":"'$data'"}}'
)
for name in astrocast chirpstack the-things-stack; do
    query=
    [ $name != chirpstack ] || query='?event=up'
    send=(curl -sSi -H 'Content-Type: application/json' -d "${body[$name]}" "$url/hooks/$name$query")
    try 'HTTP/1.1 401' "${send[@]}"
    try 'HTTP/1.1 401' "${send[@]}" -H 'Authorization: Bearer wrong'
    try '{"message":"stored"}' "${send[@]}" -H "Authorization: Bearer $provider"
done
base64url() { base64 -w0 | tr '+/' '-_' | tr -d =; }
claims='{"imei":"300234010753370","momsn":"1","transmit_time":"26-11-21 10:00:00","iridium_latitude":"52.4","iridium_longitude":"0.3","iridium_cep":"8","data":"'$(printf '{"t":6}' | od -An -tx1 | tr -d ' \n')'"}'
signed=$(printf '{"alg":"RS256","typ":"JWT"}' | base64url).$(printf %s "$claims" | base64url)
signature=$(printf %s "$signed" | openssl dgst -sha256 -sign signer.pem | base64url)
try 'HTTP/1.1 401' curl -sSi -d imei=300234010753370 "$url/hooks/rockblock"
try 'HTTP/1.1 401' curl -sSi -d "JWT=$signed.${signature%?????}AAAAA" "$url/hooks/rockblock"
try '{"message":"stored"}' curl -sSi -d "JWT=$signed.$signature" "$url/hooks/rockblock"

echo "Stored messages, with a token that may read"
try 'HTTP/1.1 401' curl -sSi "$url/api/devices"
try '"stored":10,' curl -sS -H "Authorization: Bearer $(cat reader.token)" "$url/api/stats"
try '"provider":"rockblock"' curl -sS -H "Authorization: Bearer $(cat reader.token)" "$url/api/devices/300234010753370/messages?limit=1"
