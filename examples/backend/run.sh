#!/bin/bash
# Sends messages through the gateway to receive.mjs, one of them twice. Then sends the backend a message twice and a forged one. Fails unless the backend
# stores each message once and refuses the forged one. Needs curl and Node.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../prepare.sh backend
cd "$build"

printf 'whsec_%s\n' "$(head -c 32 /dev/urandom | base64)" >secret
SECRET=$(cat secret) node "$here/receive.mjs" 127.0.0.1:0 >received.txt &
backend=$!
trap 'kill $backend' EXIT
address=$(address 'listens on' received.txt)
cat >dunnage.toml <<END
[http]
listen = "127.0.0.1:0"
[buffer]
path = "buffer.sqlite3"
[[output]]
name = "backend"
[output.http]
url = "http://$address/"
secret_file = "secret"
END
"$dunnage" gateway check --config dunnage.toml
"$dunnage" gateway --config dunnage.toml 2>gateway.log &
gateway=$!
trap 'kill $gateway $backend' EXIT
url=http://$(address 'gateway started' gateway.log)
for n in 1 2 2 3; do
    curl --fail-with-body -sS "$url/ingest/buoy-7" -H "Idempotency-Key: reading-$n" --json "{\"depth\":$n}"
done
for _ in $(seq 100); do
    [ "$(grep -c buoy-7 received.txt)" -ge 3 ] && break
    sleep 0.1
done
forged=$(curl -sS -o answer -w '%{http_code}' "http://$address/" -H 'webhook-id: 1' -H "webhook-timestamp: $(date +%s)" -H 'webhook-signature: v1,AAAA' --json '{"name":"x"}')
[ "$forged" = 401 ] || { echo "a forged message got $forged"; exit 1; }
# A message whose answer was lost comes again, with the same name.
twice=$(SECRET=$(cat secret) node --input-type=module -e '
import { createHmac } from "node:crypto";
const [id, timestamp] = ["again", Math.floor(Date.now() / 1000)];
const body = JSON.stringify({ name: id, device: "buoy-8", value: 1 });
const key = Buffer.from(process.env.SECRET.replace("whsec_", ""), "base64");
const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
const send = async () => (await fetch(process.argv[1], { method: "POST", body, headers })).status;
console.log(await send(), await send());' "http://$address/")
[ "$twice" = "204 409" ] || { echo "a message that came twice got $twice"; exit 1; }
printf 'buoy-7 {"depth":%d}\n' 1 2 3 | diff - <(grep buoy-7 received.txt)
echo "three messages, each once; a repeated one was recognized, a forged one refused"
