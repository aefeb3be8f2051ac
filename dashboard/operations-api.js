// The part of the gateway's API that operators read. operator.js sends their changes.

import { get } from "./api.js";

const read = (path, query = {}) => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return get(given.length ? `${path}?${new URLSearchParams(given)}` : path, JSON.parse);
};

/** Inputs, outputs, buffer, queue and the size of the quarantine. */
export const state = () => read("/api/operations");
export const rates = () => read("/api/rates");
export const schemas = async () => (await read("/api/schemas")).schemas;
/** Tokens or keys ("tokens", "keys") whose names come after `after`. */
export const credentials = (kind, after) => read(`/api/${kind}`, { limit: 100, after });
/** How many messages of which devices are in the quarantine, or of `device` alone. */
export const quarantineDevices = (device) => read("/api/quarantine/devices", { device });
/** The newest messages of the quarantine with IDs below `before`. */
export const quarantine = async (limit, before) => (await read("/api/quarantine", { limit, before })).messages;

/** The path of the dead letters of an output. */
export const deadLettersPath = (output) => `/api/outputs/${encodeURIComponent(output)}/dead-letters`;
/** The dead letters of an output with message IDs above `after`, the oldest first. */
export const deadLetters = (output, after) => read(deadLettersPath(output), { limit: 50, after });
