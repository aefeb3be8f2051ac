// Starts the real gateway in a folder of its own, and sends it messages.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BINARY = process.env.DUNNAGE_BIN ?? here("../../target/debug/dunnage");

/** The container message of the corpus. */
export const CONTAINER = JSON.parse(await readFile(here("../../bench/corpus/container.json"), "utf8"));

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

export class Gateway {
  #process = null;
  #log = "";
  #env = {};

  /** A new gateway with an empty buffer. `settings` are variables of its environment, `config` is the rest, `files` are texts by their names in its folder. */
  static async start(settings = {}, config = "", files = {}) {
    const gateway = new Gateway();
    gateway.folder = await mkdtemp(join(tmpdir(), "dunnage-page-"));
    gateway.port = await freePort();
    gateway.url = `http://127.0.0.1:${gateway.port}`;
    gateway.#env = {
      ...process.env,
      ...settings,
      DUNNAGE_HTTP_LISTEN: `127.0.0.1:${gateway.port}`,
      DUNNAGE_BUFFER_PATH: join(gateway.folder, "buffer.db"),
    };
    for (const [name, text] of Object.entries({ ...files, "dunnage.toml": config })) await writeFile(join(gateway.folder, name), text);
    await gateway.up();
    return gateway;
  }

  async up() {
    this.#process = spawn(BINARY, ["gateway", "--config", "dunnage.toml"], { env: this.#env, cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    let failure = null;
    this.#process.once("error", (error) => (failure = error));
    for (const stream of [this.#process.stdout, this.#process.stderr]) stream.on("data", (data) => (this.#log += data));
    for (let tries = 0; tries < 200; tries++) {
      if (failure || this.#process.exitCode !== null) break;
      const answer = await fetch(`${this.url}/readyz`).catch(() => null);
      if (answer?.ok) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    this.#process.kill();
    throw new Error(`${BINARY} gateway does not get ready: ${failure ?? this.#log}`);
  }

  /** The memory of the process in MB: now, and at its peak. */
  async memory() {
    const status = await readFile(`/proc/${this.#process.pid}/status`, "utf8");
    const [now, peak] = ["VmRSS", "VmHWM"].map((name) => Number(status.match(`${name}:\\s+(\\d+) kB`)[1]) / 1024);
    return { now, peak };
  }

  /** The log of the gateway. */
  get log() {
    return this.#log;
  }

  /** Ends the process and keeps the buffer. */
  async down() {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await ended;
  }

  /** Ends the process and removes the buffer. */
  async stop() {
    await this.down();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Runs `dunnage gateway` with the gateway's environment; returns its output. */
  command(...words) {
    const { status, stdout, stderr } = spawnSync(BINARY, ["gateway", ...words], { env: this.#env, cwd: this.folder });
    if (status !== 0) throw new Error(`${stderr}`);
    return `${stdout}`.trim();
  }

  reload() {
    this.command("reload", "--config", "dunnage.toml");
  }

  /** A new token: `--read`, `--operate`, or `--device` and a pattern. */
  token(...right) {
    const token = this.command("token", "new", ...right);
    this.reload();
    return token;
  }

  /** Posts a body; returns the status. */
  async post(device, body, { type = "application/json", link, schema, token } = {}) {
    const query = new URLSearchParams(Object.entries({ link, schema }).filter(([, value]) => value));
    const headers = { "content-type": type, ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${this.url}/ingest/${device}?${query}`, { method: "POST", headers, body });
    await answer.arrayBuffer();
    return answer.status;
  }

  /** Posts a message as JSON that has to be taken. */
  async send(device, message, link) {
    const status = await this.post(device, JSON.stringify(message), { link });
    if (status !== 204) throw new Error(`${device}: ${status}`);
  }

  async api(path) {
    return (await fetch(this.url + path)).json();
  }
}

/** A message as packed. */
export function packed(schema, message) {
  const command = ["convert", "--from", "json", "--to", "packed", "--schema", schema];
  const { status, stdout, stderr } = spawnSync(BINARY, command, { input: JSON.stringify(message) });
  if (status !== 0) throw new Error(`${stderr}`);
  return new Uint8Array(stdout);
}

/** The container message of another container elsewhere. */
export const containerAt = (device, latitude, longitude) => ({
  ...CONTAINER,
  iso6346: device,
  latitude: latitude.toFixed(4),
  longitude: longitude.toFixed(4),
});

/** A map of texts with up to 23 entries of up to 255 bytes as CBOR (RFC 8949, 3.1). */
export function cbor(message) {
  const bytes = [0xa0 + Object.keys(message).length];
  for (const text of Object.entries(message).flat()) {
    const utf8 = new TextEncoder().encode(text);
    bytes.push(...(utf8.length < 24 ? [0x60 + utf8.length] : [0x78, utf8.length]), ...utf8);
  }
  return new Uint8Array(bytes);
}

/** The playground without a gateway: `dunnage play` at a free port, or at `port`. */
export class Playground {
  static async start(port = 0) {
    const playground = new Playground();
    playground.process = spawn(BINARY, ["play", "--listen", `127.0.0.1:${port}`], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await Promise.race([once(playground.process.stdout, "data"), once(playground.process, "exit")]);
    playground.url = new URL(`${line}`.trim()).origin;
    return playground;
  }

  async stop() {
    if (this.process.exitCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.kill("SIGTERM");
    await ended;
  }
}
