// The changes of the register: the dialogs that add, edit, remove and import devices.

import { el } from "./dom.js";
import { count, counted } from "./format.js";
import { send } from "./operator.js";

const path = (device) => `/api/register/devices/${encodeURIComponent(device)}`;

/** The fields of the form: how each is written as text, and read again. */
const FIELDS = [
  { key: "name", label: "Name", write: String, read: String },
  { key: "tags", label: "Tags, one KEY=VALUE a line", lines: 3, write: (tags) => Object.entries(tags).map((pair) => pair.join("=")).join("\n"), read: readTags },
  { key: "external_ids", label: "External IDs (DevEUI, IMEI, ...), one a line", lines: 2, write: (ids) => ids.join("\n"), read: readLines },
  { key: "profile", label: "Profile", write: String, read: String },
  { key: "latitude", label: "Latitude of a fixed place, in degrees", write: String, read: Number },
  { key: "longitude", label: "Longitude, in degrees", write: String, read: Number },
  { key: "interval_seconds", label: "Expected interval, in seconds", write: String, read: Number },
  { key: "notes", label: "Notes", lines: 2, write: String, read: String },
];

function readLines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

function readTags(text) {
  return Object.fromEntries(readLines(text).map((line) => [line.split("=")[0].trim(), line.includes("=") ? line.slice(line.indexOf("=") + 1).trim() : ""]));
}

/** A form for `record`; `read()` returns the record that it holds. */
export function form(record, isNew) {
  const inputs = FIELDS.map(({ key, label, lines, write }) => {
    const text = record[key] === undefined || record[key] === null ? "" : write(record[key]);
    return field(key, label, text, lines);
  });
  const device = field("device", "Device ID", record.device);
  const disabled = el("input", { type: "checkbox", id: "register-disabled" });
  disabled.checked = record.disabled === true;
  const off = el("div", { class: "check" }, disabled, el("label", { for: "register-disabled" }, "Disabled: messages go into the quarantine"));
  const read = () => {
    const filled = FIELDS.map(({ key, read }, i) => [key, inputs[i].input.value.trim(), read]).filter(([, text]) => text);
    return { device: device.input.value.trim() || record.device, ...Object.fromEntries(filled.map(([key, text, read]) => [key, read(text)])), ...(disabled.checked && { disabled: true }) };
  };
  return { nodes: [...(isNew ? [device.node] : []), ...inputs.map(({ node }) => node), off], read };
}

function field(key, label, text, lines) {
  const id = `register-${key.replaceAll("_", "-")}-field`;
  const common = { id, autocomplete: "off", spellcheck: "false" };
  const input = lines ? el("textarea", { ...common, rows: lines }) : el("input", { ...common, type: "text" });
  input.value = text;
  return { input, node: el("div", {}, el("label", { for: id }, label), input) };
}

export function add(operator) {
  const { nodes, read } = form({ device: "" }, true);
  operator.ask({
    title: "Add a device",
    what: "Messages of the device then carry its name and tags.",
    label: "Add",
    fields: nodes,
    request: async (token) => {
      const record = read();
      if (!record.device) return save(record, token);
      // With the token of the operator, because the one of the page may not read this device.
      const { answer, ...missing } = await send(path(record.device), { method: "GET" }, token);
      if (answer) return { status: 409, detail: `the device "${record.device}" is in the register already` };
      return missing.status === 404 ? save(record, token) : missing;
    },
    report: () => `${read().device} is registered.`,
  });
}

export function edit(operator, { first_seen: _, last_seen: __, ...record }) {
  const { nodes, read } = form(record, false);
  operator.ask({
    title: `Edit ${record.device}`,
    what: "The change applies to messages that arrive or are delivered from now on.",
    label: "Save",
    fields: nodes,
    request: (token) => save(read(), token),
    report: () => `${record.device} was changed.`,
  });
}

async function save(record, token) {
  if (!record.device) return { status: 422, detail: "a device needs an ID" };
  return done(await send(path(record.device), { method: "PUT", body: JSON.stringify(record) }, token));
}

export function remove(operator, { device }) {
  operator.ask({
    title: `Remove ${device} from the register`,
    what: "Its name, tags and external IDs are forgotten. Its messages stay.",
    label: "Remove",
    danger: true,
    request: async (token) => done(await send(path(device), { method: "DELETE" }, token)),
    report: () => `${device} was removed from the register.`,
  });
}

/** An answer with the number of devices that were changed. */
const done = (sent) => (sent.answer ? { answer: { changed: 1 } } : sent);

export function importFile(operator) {
  const input = el("input", { type: "file", id: "register-file", accept: ".csv,.ndjson,.jsonl" });
  let seen = null;
  let sums = null;
  operator.ask({
    title: "Import devices",
    what: "A CSV file with a header (device, name, external_id, tag.KEY, ...) or NDJSON. Devices that are there get the record of the file; others stay. All rows are imported, or none.",
    label: "Preview",
    fields: [el("div", {}, el("label", { for: input.id }, "File"), input)],
    request: async (token) => {
      const file = input.files[0];
      if (!file) return { status: 422, detail: "choose a file" };
      const type = /\.(ndjson|jsonl)$/.test(file.name) ? "application/x-ndjson" : "text/csv";
      const isSeen = seen === file;
      const sent = await send(`/api/register/import${isSeen ? "" : "?dry_run=true"}`, { method: "POST", body: file, type }, token);
      if (!sent.answer) return sent;
      sums = sent.answer;
      if (isSeen) return { answer: { changed: 1 } };
      seen = file;
      return { confirm: { text: `The file adds ${counted(sums.added, "device")}, changes ${count(sums.changed)} and leaves ${count(sums.unchanged)} as they are.`, label: "Import" } };
    },
    report: () => (sums ? `${counted(sums.added, "device")} added, ${count(sums.changed)} changed, ${count(sums.unchanged)} unchanged.` : "Nothing was imported."),
  });
}
