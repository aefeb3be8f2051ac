// Asks the process that serves the page.

/** Milliseconds after which a server that does not answer counts as gone: other answers may come first. */
const LONGEST = 60_000;

const at = (path) => new URL(path, location.origin);

async function answer(response) {
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => null);
  throw Object.assign(new Error(problem?.detail ?? `the server answers ${response.status}`), { status: response.status });
}

const post = async (path, question, signal) =>
  answer(await fetch(at(path), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(question), signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]) }));

/** The limits, the links, and the examples. */
export const about = async () => answer(await fetch(at("/api/play"), { cache: "no-store" }));

/** Everything about the messages. */
export const compute = (question, signal) => post("/api/play", question, signal);

/** The changes of the schema that make packed messages smaller. */
export const savings = (question, signal) => post("/api/play/savings", question, signal);

/** The bytes of one of the messages in one format. */
export const bytes = (question, signal) => post("/api/play/bytes", question, signal);
