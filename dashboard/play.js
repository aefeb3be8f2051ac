// The playground: the input is sent to the process that serves the page, and its answer is drawn. The state is in the URL.

import { byId, el, setText } from "./dom.js";
import { count } from "./format.js";
import { PartsView } from "./parts.js";
import * as api from "./play/api.js";
import { CodeView } from "./play/code.js";
import { Editor } from "./play/editor.js";
import { cut, file } from "./play/intake.js";
import * as link from "./play/link.js";
import { LinksView, draw as drawPlan } from "./play/plan.js";
import { draw as drawSavings } from "./play/savings.js";
import { draw as drawSizes } from "./play/sizes.js";

/** Milliseconds after the last key until the texts are sent. */
const PAUSE = 300;
/** Milliseconds until the server is asked again if it cannot be reached; doubles up to the second. */
const RETRY = [1000, 30_000];

const fault = (failure) => (failure.status ? `Not computed: ${failure.message}.` : "The server cannot be reached.");

const about = await reach(api.about);
const initial = {
  messages: "",
  schema: null,
  links: about.links.filter((link) => link.first).map((link) => link.id),
  devices: 1000,
  perDay: 4,
  link: "",
  format: about.explained[0],
  file: "c/0",
};

/** The input and the choices of the user. `schema` is null while it is inferred. */
let state = { ...initial };
let answer = null;
let which = 0;

const messages = new Editor(byId("messages-editor"), byId("messages-mistakes"), (text) => edit(replacesExample(text) ? { messages: text, schema: null } : { messages: text }));
const schema = new Editor(byId("schema-editor"), byId("schema-mistakes"), (text) => edit({ schema: text.trim() ? text : null }));
const links = new LinksView(about.links, (ids) => edit({ links: ids }));
const parts = new PartsView(byId("bytes"), byId("bytes-parts"), byId("bytes-note"));
const code = new CodeView(about.shared, (file) => view({ file }));

/** Calls `ask` until the server answers. */
async function reach(ask) {
  for (let wait = RETRY[0]; ; wait = Math.min(2 * wait, RETRY[1])) {
    try {
      return await ask();
    } catch (failure) {
      setText(byId("status"), `${fault(failure)} Trying again.`);
      await new Promise((done) => setTimeout(done, wait));
    }
  }
}

/** Whether `text` is something else than the example whose schema is shown: less than half of it is left. */
function replacesExample(text) {
  const example = about.examples.find(({ schema }) => schema === state.schema)?.messages;
  if (example === undefined) return false;
  let [start, end] = [0, 0];
  while (start < text.length && text[start] === example[start]) start++;
  while (end < text.length - start && text.at(-1 - end) === example.at(-1 - end)) end++;
  return start + end < example.length / 2;
}

/** Takes up a change that has to be computed. */
function edit(change) {
  state = { ...state, ...change };
  if (change.schema === null) schema.text = "";
  if ("messages" in change || "schema" in change) example(false);
  controls();
  later.start();
}

/** Applies a change of the shown message or format. */
function view(change) {
  state = { ...state, ...change };
  controls();
  drawResults();
  if (change.format !== undefined) askBytes();
  save(false);
}

const later = {
  timer: 0,
  start() {
    clearTimeout(this.timer);
    asking?.abort();
    askingSavings?.abort();
    busy(true);
    this.timer = setTimeout(() => {
      save(false);
      ask();
    }, PAUSE);
  },
};

const busy = (isBusy) => byId("main").setAttribute("aria-busy", String(isBusy));

let saving = 0;
let asking = null;
let askingSavings = null;
let retry = RETRY[0];

/** Computes everything. A later call ends the one before. */
async function ask() {
  clearTimeout(later.timer);
  asking?.abort();
  const { signal } = (asking = new AbortController());
  setText(byId("status"), "Computing");
  busy(true);
  const { messages: text, schema: own, links: ids, devices, perDay } = state;
  try {
    const got = await api.compute({ messages: text.toWellFormed(), schema: own?.toWellFormed() ?? null, links: ids, devices, per_day: perDay }, signal);
    if (signal.aborted) return;
    retry = RETRY[0];
    setText(byId("status"), "");
    drawAnswer(got);
    busy(false);
  } catch (failure) {
    if (signal.aborted) return;
    setText(byId("status"), `${fault(failure)}${failure.status ? "" : " Trying again."}`);
    old(true);
    busy(false);
    if (failure.status) return;
    later.timer = setTimeout(ask, retry);
    retry = Math.min(2 * retry, RETRY[1]);
  }
}

function drawAnswer(got) {
  const of = (text) => got.mistakes.filter((mistake) => mistake.in === text);
  const inMessages = of("messages");
  messages.show(inMessages, got.broken - inMessages.filter((mistake) => mistake.kind === "schema").length);
  if (state.schema === null) schema.text = got.inferred?.schema ?? (inMessages.length ? schema.text : "");
  schema.show(of("schema"));
  setText(byId("messages-note"), got.messages ? `${count(got.messages)} ${got.messages === 1 ? "message" : "messages"}` : "");
  const notes = got.inferred?.notes ?? [];
  byId("guesses").hidden = notes.length === 0;
  setText(byId("guesses").querySelector("summary"), `${count(notes.length)} guesses`);
  byId("guesses").querySelector("ul").replaceChildren(...notes.map(({ field, text }) => el("li", {}, el("strong", {}, field), `: ${text}`)));
  // While the messages have a mistake, the last figures stay, marked as old; the code depends on the schema alone.
  const isOld = inMessages.length > 0 && got.formats.length === 0;
  old(isOld);
  answer = isOld && answer ? { ...answer, code: got.code.length ? got.code : answer.code } : got;
  byId("results").hidden = answer.formats.length === 0 && answer.code.length === 0;
  drawResults();
  if (isOld) return;
  askBytes();
  askSavings();
}

/** Marks the results as those of an earlier state. */
function old(isOld) {
  byId("results").classList.toggle("old", isOld);
}

/** Greys a panel if something is missing in it, and says why. */
function lack(title, reason) {
  const panel = byId(title).closest(".panel");
  panel.classList.toggle("lacking", Boolean(reason));
  const note = panel.querySelector(".lack");
  note.hidden = !reason;
  setText(note, reason || "");
}

function drawResults() {
  if (!answer) return;
  const { without_schema: without, plan } = answer;
  lack("sizes-title", without && `${without.cause}, so these formats are missing: ${without.formats.join(", ")}.`);
  lack("plan-title", without && plan?.advice.sentences.join(" "));
  lack("code-title", without && !answer.code.length && `${without.cause}, so there is no code.`);
  drawSizes(answer, about.links.filter((link) => state.links.includes(link.id)), about.enough_to_train);
  drawPlan(answer.plan, state.link || state.links[0]);
  code.draw(answer.code, state.file);
}

/** They may take long, or too long, so they are asked for last. */
async function askSavings() {
  askingSavings?.abort();
  const { signal } = (askingSavings = new AbortController());
  const text = state.schema ?? answer.inferred?.schema;
  if (!text || answer.without_schema || !answer.formats.length) return drawSavings(null);
  try {
    const savings = await api.savings({ messages: state.messages.toWellFormed(), schema: text.toWellFormed() }, signal);
    if (!signal.aborted) drawSavings(savings);
  } catch {
    if (!signal.aborted) drawSavings(null);
  }
}

let askingBytes = null;

async function askBytes() {
  askingBytes?.abort();
  const { signal } = (askingBytes = new AbortController());
  const last = Math.max(0, answer.messages - 1);
  which = Math.min(which, last);
  byId("which").max = String(last + 1);
  if (byId("which") !== document.activeElement) byId("which").value = String(which + 1);
  const text = state.schema ?? answer.inferred?.schema ?? null;
  try {
    const { hex, explanation, reason } = await api.bytes({ messages: state.messages.toWellFormed(), schema: text?.toWellFormed() ?? null, message: which, format: state.format }, signal);
    if (signal.aborted) return;
    const without = reason && answer.without_schema?.formats.includes(state.format);
    lack("bytes-title", without && `${answer.without_schema.cause}, so ${state.format} cannot be shown.`);
    parts.draw(hex, explanation, reason && !without ? `Not shown: ${reason}.` : "");
  } catch (failure) {
    if (!signal.aborted) parts.draw("", null, fault(failure));
  }
}

/** Shows the state in the controls. */
function controls() {
  messages.text = state.messages;
  if (state.schema !== null) schema.text = state.schema;
  setText(byId("schema-note"), state.schema !== null ? "given" : state.messages ? "inferred from the messages" : "");
  byId("schema-infer").hidden = state.schema === null || !state.messages.trim();
  links.chosen = state.links;
  byId("plan-link").value = state.link || state.links[0] || "";
  for (const [id, value] of [["devices", state.devices], ["per-day", state.perDay]]) {
    if (byId(id) !== document.activeElement) byId(id).value = String(value);
  }
  for (const button of byId("formats").children) button.setAttribute("aria-pressed", String(button.textContent === state.format));
}

/** Writes the state into the URL; with `push`, "back" returns to the previous state. */
async function save(push) {
  const number = ++saving;
  const isEmpty = !state.messages && state.schema === null;
  const fragment = isEmpty ? "" : await link.write(state);
  if (number !== saving) return;
  const isLong = fragment.length > link.LONGEST;
  const url = `${location.pathname}${location.search}${fragment && !isLong ? `#${fragment}` : ""}`;
  if (url !== location.pathname + location.search + location.hash) history[push ? "pushState" : "replaceState"](null, "", url);
  byId("share").disabled = isLong || isEmpty;
  setText(byId("share-note"), isLong ? `Too long for a link: ${count(fragment.length)} characters, at most ${count(link.LONGEST)}. A reload loses what is here.` : "");
}

/** Takes the state from the URL. */
async function load() {
  clearTimeout(later.timer);
  saving++;
  let given = null;
  try {
    given = await link.read(location.hash.slice(1));
  } catch {
    setText(byId("share-note"), "This link is damaged or incomplete: it holds no state.");
    return;
  }
  const known = Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== null));
  const [first] = given ? [] : about.examples;
  example(Boolean(first));
  state = { ...initial, ...(first && { messages: first.messages, schema: first.schema }), ...known, links: (given?.links ?? initial.links).filter((id) => about.links.some((link) => link.id === id)) };
  if (!about.explained.includes(state.format)) state.format = initial.format;
  if (state.schema === null) schema.text = "";
  byId("share").disabled = !given;
  setText(byId("share-note"), "");
  controls();
  await ask();
}

/** Marks the shown messages as the example with which the page begins. */
function example(isShown) {
  byId("start").hidden = !isShown;
}

/** Takes messages from a file, the clipboard or an example. The user's schema stays, that of an example does not. */
function take(change, note) {
  if (change.messages === null) return setText(byId("messages-note"), note);
  const own = about.examples.some((example) => example.schema === state.schema) ? null : state.schema;
  state = { ...state, schema: own, ...change };
  if (state.schema === null) schema.text = "";
  example(false);
  controls();
  save(true);
  ask().then(() => note && setText(byId("messages-note"), note));
}

byId("examples").replaceChildren(...about.examples.map((example) => {
  const button = el("button", { type: "button" }, example.name);
  button.addEventListener("click", () => take({ messages: example.messages, schema: example.schema }, ""));
  return button;
}));
byId("formats").replaceChildren(...about.explained.map((format) => {
  const button = el("button", { type: "button" }, format);
  button.addEventListener("click", () => view({ format }));
  return button;
}));
byId("schema-infer").addEventListener("click", () => edit({ schema: null }));
byId("plan-link").addEventListener("change", (e) => view({ link: e.target.value }));
byId("devices").addEventListener("input", (e) => e.target.validity.valid && e.target.value && edit({ devices: Number(e.target.value) }));
byId("per-day").addEventListener("input", (e) => e.target.validity.valid && e.target.value && edit({ perDay: Number(e.target.value) }));
byId("which").addEventListener("input", (e) => {
  if (!e.target.validity.valid || !e.target.value || !answer) return;
  which = Number(e.target.value) - 1;
  askBytes();
});
byId("messages").addEventListener("paste", (e) => {
  const { text, note } = cut(e.clipboardData.getData("text/plain"), about);
  if (!note) return;
  e.preventDefault();
  take({ messages: text }, note);
});
// Focusing the example selects it, so that typing or pasting replaces it. A click ends after the focus, and would undo that.
let entered = false;
byId("messages").addEventListener("focus", ({ target }) => {
  entered = !byId("start").hidden;
  if (entered) target.select();
});
byId("messages").addEventListener("click", ({ target }) => {
  if (entered) target.select();
  entered = false;
});
byId("start-own").addEventListener("click", () => {
  take({ messages: "", schema: null }, "");
  byId("messages").focus();
});
addEventListener("dragover", (e) => e.preventDefault());
addEventListener("drop", async (e) => {
  const [dropped] = e.dataTransfer.files;
  if (!dropped) return;
  e.preventDefault();
  const { text, note } = await file(dropped, about);
  take({ messages: text }, note);
});
byId("share").addEventListener("click", async () => {
  await navigator.clipboard?.writeText(location.href);
  setText(byId("share-note"), navigator.clipboard ? "Copied" : "Copy it from the address bar.");
});
addEventListener("popstate", load);

const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
const here = about.process === "gateway" ? `Computed by this gateway at ${location.host}; it stores nothing of it.` : isHere ? "Computed on this machine by dunnage play; nothing leaves it." : `Computed by dunnage play at ${location.host}; it stores nothing of it.`;
setText(byId("computed"), here);
setText(byId("about"), `Dunnage ${about.version}`);
setText(byId("status"), "");
byId("views").hidden = about.process !== "gateway";
await load();
document.documentElement.dataset.ready = "";
