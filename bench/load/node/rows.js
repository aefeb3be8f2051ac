// rows.js URL LINES MESSAGES   inserts messages into the table `peer` of PostgreSQL, as a service would that collects them in batches: statements of
// many rows on four connections, each once by its key. Prints the seconds that it took. LINES has a device, a tab and JSON on each line, which are repeated
// until there are MESSAGES.
import { readFileSync } from "node:fs";
import pg from "pg";

const [url, file, count] = process.argv.slice(2);
const ROWS = 1000;
const CONNECTIONS = 4;

const lines = readFileSync(file, "utf8").trimEnd().split("\n");
const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });

// The container's time is DDMMYY hhmmss.f.
const time = (text) =>
  `20${text.slice(4, 6)}-${text.slice(2, 4)}-${text.slice(0, 2)}T${text.slice(7, 9)}:${text.slice(9, 11)}:${text.slice(11)}Z`;

async function insert(first, last) {
  const values = [];
  const rows = [];
  let names;
  for (let n = first; n < last; n++) {
    const line = lines[n % lines.length];
    const tab = line.indexOf("\t");
    const message = JSON.parse(line.slice(tab + 1));
    message.time = time(message.time);
    names ??= Object.keys(message);
    const row = [`m${n}`, line.slice(0, tab), new Date(), line.length - tab - 1];
    for (const name of names) row.push(message[name]);
    rows.push(`(${row.map((_, at) => `$${values.length + at + 1}`).join(",")})`);
    values.push(...row);
  }
  const columns = ["_name", "_device", "_received_at", "_bytes", ...names].map((name) => `"${name}"`);
  await pool.query(
    `INSERT INTO peer (${columns.join(",")}) VALUES ${rows.join(",")} ON CONFLICT (_name) DO NOTHING`,
    values,
  );
}

const begun = performance.now();
let next = 0;
const work = async () => {
  while (next < Number(count)) {
    const first = next;
    next = Math.min(next + ROWS, Number(count));
    await insert(first, next);
  }
};
await Promise.all(Array.from({ length: CONNECTIONS }, work));
console.log((performance.now() - begun) / 1000);
await pool.end();
