// The decoding service of "Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and
// Non-Terrestrial Networks" (Telecom 2026, 7(2), 43), section 4.2.2, rebuilt from the npm packages that section 4.4.2 names:
// it acknowledges a message at once, and decodes, checks and stores it later. With FORWARD it then posts it to a oneM2M CSE.
//
// node server.js FOLDER: serves on a free port, prints the address, and ends in order when its input ends.

import express from "express";
import { join } from "node:path";
import { decoders, check } from "./decode.js";
import { Buffered } from "./buffer.js";
import { forward } from "./forward.js";

/// Messages that are decoded and stored before the next requests are looked at.
const TURN = 500;

const buffer = new Buffered(join(process.argv[2], "buffer.sqlite3"));
const queue = [];
let failures = 0;
let scheduled = false;

/// Decodes and stores what waits, one turn at a time.
function work() {
  const readings = [];
  for (const { device, type, body } of queue.splice(0, TURN)) {
    try {
      const message = decoders[type](body);
      check(message);
      readings.push({ device, type, bytes: body.length, json: JSON.stringify(message) });
    } catch {
      failures += 1;
    }
  }
  buffer.store(readings);
  scheduled = queue.length > 0;
  if (scheduled) setImmediate(work);
}

const app = express();
app.disable("x-powered-by");
app.disable("etag");
app.post("/ingest/:device", express.raw({ type: () => true, limit: "1mb" }), (request, response) => {
  const type = request.headers["content-type"];
  if (!(type in decoders)) return response.status(415).end();
  queue.push({ device: request.params.device, type, body: request.body });
  if (!scheduled) {
    scheduled = true;
    setImmediate(work);
  }
  response.status(200).end();
});
app.get("/healthz", (_, response) => response.end());
app.get("/get-latest-data", (_, response) => {
  response.json({ waiting: queue.length, failures, stored: buffer.count(), latest: buffer.latest(20) });
});

const server = app.listen(0, "127.0.0.1", () => console.log(`127.0.0.1:${server.address().port}`));
if (process.env.FORWARD) forward(buffer, process.env.FORWARD);

process.stdin.resume().on("end", () => {
  server.close();
  server.closeAllConnections();
  while (queue.length > 0) work();
  buffer.close();
  process.exit(0);
});
