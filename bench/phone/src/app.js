// The paper's application: a button for each format, two radio buttons for the direction, a box for batches, and results that are kept.

import { openFile } from "./files.js";
import { FORMATS } from "./formats.js";
import { OBJECTS } from "./objects.js";
import { add, clear, lines } from "./results.js";
import { trial } from "./trial.js";

const find = (id) => document.getElementById(id);
const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;
const microseconds = (ns) => (ns / 1000).toPrecision(3);

/** Runs one trial and shows its time. */
async function run(format, object, operation, batch, file) {
  const place = file ? "a file" : "memory";
  const outcome = await trial(format, object, operation, batch, file);
  const best = add(format, object, operation, place, outcome);
  const row = find("results").insertRow(0);
  for (const cell of [format.name, object.name, operation, place, outcome.bytes, microseconds(best)]) row.insertCell().textContent = cell;
}

/** The file that the trials use: that of the browser for text formats, if it is wanted and there is one. */
const fileFor = async (format, wanted) => (wanted && format.textual ? openFile() : null);

async function press(format) {
  const file = await fileFor(format, chosen("place") === "file");
  for (const object of OBJECTS) await run(format, object, chosen("operation"), find("batch").checked, file);
}

async function runAll() {
  for (const format of FORMATS) {
    const file = await fileFor(format, true);
    for (const place of file ? [null, file] : [null]) {
      for (const object of OBJECTS) {
        for (const operation of ["serialize", "deserialize"]) await run(format, object, operation, true, place);
      }
    }
    // The page is drawn between formats.
    await new Promise((drawn) => setTimeout(drawn));
  }
}

/** Disables the buttons while `action` runs, and says what went wrong. */
async function busy(action) {
  const controls = document.querySelectorAll("button, input");
  for (const control of controls) control.disabled = true;
  find("status").textContent = "Running";
  try {
    await action();
    find("status").textContent = "Done";
  } catch (error) {
    find("status").textContent = `Failed: ${error.message}`;
  }
  for (const control of controls) control.disabled = false;
  showSaved();
}

function showSaved() {
  const text = lines().map((line) => `${line}\n`).join("");
  find("save").href = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  find("count").textContent = lines().length;
}

for (const format of FORMATS) {
  const button = document.createElement("button");
  button.textContent = format.name;
  button.addEventListener("click", () => busy(() => press(format)));
  find("formats").append(button);
}
find("all").addEventListener("click", () => busy(runAll));
find("clear").addEventListener("click", () => {
  clear();
  find("results").replaceChildren();
  showSaved();
});
showSaved();
