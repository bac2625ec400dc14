/** The rules and limits of events, in one place. */

export const EVENT_NAME_UNITS_MAX = 256;
export const DEDUP_ID_UNITS_MAX = 512;
export const DATA_DEPTH_MAX = 512;
/** The largest time that a JavaScript Date can represent. */
export const TS_MS_MAX = 8.64e15;
export const EVENTS_PER_REQUEST_MAX = 5_000;
export const FAULTS_REPORTED_MAX = 100;
export const BODY_BYTES_MAX_DEFAULT = 524_288;
export const DEDUP_WINDOW_MS_DEFAULT = 24 * 60 * 60 * 1_000;

/** Prefixes of internal event names; senders may not use them, in any case. */
export const RESERVED_NAME_PREFIXES = ["inlet/", "inngest/"] as const;

/** C0, DEL and C1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

/** Returns the fault of an event name, or null if it is valid. */
export function eventNameFault(name: unknown): string | null {
  if (name === undefined) return "is required";
  if (typeof name !== "string") return "must be a string";
  if (name === "") return "must not be empty";
  if (name.length > EVENT_NAME_UNITS_MAX) return `must be at most ${EVENT_NAME_UNITS_MAX} characters, this one has ${name.length}`;
  if (CONTROL_CHARACTER.test(name)) return "must not contain control characters";
  const prefix = reservedPrefix(name);
  if (prefix) return `must not start with "${prefix}", which is reserved for events of the service itself`;
  return null;
}

/** Called for every event: the first letter decides nearly always, without a lower-case copy. */
function reservedPrefix(name: string): string | undefined {
  const first = name.charCodeAt(0) | 0x20;
  if (first !== 0x69 /* i */) return undefined;
  const lower = name.toLowerCase();
  return RESERVED_NAME_PREFIXES.find((prefix) => lower.startsWith(prefix));
}
