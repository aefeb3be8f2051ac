// A backend that takes messages from the gateway's output `[output.http]`: checks the signature, stores each message once, and only then answers.
// Run: SECRET=whsec_... node receive.mjs 127.0.0.1:9090
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

/** The messages by their stable IDs. In production, use a table whose key is the ID. */
const stored = new Map();

/** The seconds by which a timestamp may be off, so that a recorded request cannot be sent again later. */
const TOLERANCE = 300;

const key = Buffer.from(process.env.SECRET.replace("whsec_", ""), "base64");

/** Whether a request is the gateway's, by the symmetric scheme of Standard Webhooks. */
function isSigned(headers, body) {
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < TOLERANCE)) return false;
  const signed = `${headers["webhook-id"]}.${timestamp}.`;
  const expected = createHmac("sha256", key).update(signed).update(body).digest();
  return (headers["webhook-signature"] ?? "").split(" ").some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function take(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!isSigned(request.headers, body)) return 401;
  const message = JSON.parse(body);
  // A message is delivered again if the answer was lost.
  if (stored.has(message.name)) return 409;
  stored.set(message.name, message);
  console.log(`${message.device} ${JSON.stringify(message.value)}`);
  return 204;
}

const [host, port] = process.argv[2].split(":");
createServer(async (request, response) => {
  const status = await take(request).catch(() => 500);
  response.writeHead(status).end();
}).listen(Number(port), host, function () {
  console.log(`listens on ${host}:${this.address().port}`);
});
