// To the CSE: a contentInstance for each message, in their order, again after a second when it fails.

import { setTimeout } from "node:timers/promises";

export async function forward(buffer, url) {
  for (;;) {
    const readings = buffer.waiting(100);
    if (readings.length === 0) await setTimeout(100);
    for (const { id, json } of readings) {
      while (!(await post(url, id, json))) await setTimeout(1000);
      buffer.forwarded(id);
    }
  }
}

async function post(url, id, json) {
  const headers = {
    "Content-Type": "application/json;ty=4", "X-M2M-Origin": "CAdmin", "X-M2M-RI": `${id}`, "X-M2M-RVI": "3",
  };
  try {
    const body = JSON.stringify({ "m2m:cin": { con: JSON.parse(json) } });
    const response = await fetch(url, { method: "POST", headers, body });
    await response.arrayBuffer();
    return response.ok || response.status === 409;
  } catch {
    return false;
  }
}
