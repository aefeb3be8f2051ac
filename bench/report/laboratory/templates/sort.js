// Sorts a table by the column whose heading is pressed: ascending first, descending if it is pressed again. Empty cells come last.
"use strict";

function key(row, column) {
  const cell = row.cells[column];
  const text = cell.textContent.trim();
  return { empty: text === "", number: cell.dataset.value === undefined ? null : Number(cell.dataset.value), text };
}

function compare(a, b) {
  if (a.number !== null && b.number !== null) return a.number - b.number;
  return a.text.localeCompare(b.text, "en", { numeric: true });
}

function sort(button) {
  const heading = button.closest("th");
  const table = heading.closest("table");
  const descending = heading.getAttribute("aria-sort") === "ascending";
  const column = Number(button.dataset.column);
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: key(row, column) }));
  rows.sort((a, b) => a.key.empty - b.key.empty || (a.key.empty ? 0 : compare(a.key, b.key) * (descending ? -1 : 1)));
  table.tBodies[0].append(...rows.map(({ row }) => row));
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
}

for (const button of document.querySelectorAll("th button")) {
  button.title = "Sort by this column";
  button.addEventListener("click", () => sort(button));
}

// Printing shows every note.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
