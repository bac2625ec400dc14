/** One event of a request: checked field by field, its data and unknown fields kept in the sender's own words. */

import { DATA_DEPTH_MAX, DEDUP_ID_UNITS_MAX, eventNameFault, type JsonMember, joinMembers, TS_MS_MAX } from "@inlet/protocol";

export interface SentEvent {
  name: string;
  /** JSON text of an object. */
  data: string;
  /** JSON text of an object with the fields the service has no rule for, or null. */
  extras: string | null;
  dedupId: string | null;
  /** Null: the time it was received. */
  ts: number | null;
}

type Report = (field: string, message: string) => void;

/** The fields the service keeps in columns of its own. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(["name", "data", "id", "ts"]);

/** `value` is the event parsed, `members` the places of its fields in `text`. Null when a fault was reported. */
export function readEvent(text: string, value: unknown, members: JsonMember[] | null, report: Report): SentEvent | null {
  if (members === null) {
    report("event", "must be an object");
    return null;
  }
  const { name, id, ts } = value as Record<string, unknown>;
  let faults = 0;
  const check = (field: string, fault: string | null) => {
    if (fault === null) return;
    report(field, fault);
    faults++;
  };
  // As for JSON.parse, the last of several members with one name counts.
  const data = members.findLast((member) => member.key === "data");
  check("name", eventNameFault(name));
  check("data", dataFault(text, data));
  check("id", dedupIdFault(id));
  check("ts", tsFault(ts));
  if (faults > 0 || !data) return null;
  return {
    name: name as string,
    data: text.slice(data.start, data.end),
    extras: extrasOf(text, members),
    dedupId: (id as string | null | undefined) ?? null,
    ts: (ts as number | null | undefined) ?? null,
  };
}

function dataFault(text: string, data: JsonMember | undefined): string | null {
  if (!data) return "is required";
  if (text[data.start] !== "{") return "must be an object";
  if (data.depth > DATA_DEPTH_MAX) return `must nest at most ${DATA_DEPTH_MAX} levels deep, this nests ${data.depth}`;
  return null;
}

function dedupIdFault(id: unknown): string | null {
  if (id === undefined || id === null) return null;
  if (typeof id !== "string") return "must be a string";
  if (id === "") return "must not be empty";
  if (id.length > DEDUP_ID_UNITS_MAX) return `must be at most ${DEDUP_ID_UNITS_MAX} characters, this one has ${id.length}`;
  return null;
}

function tsFault(ts: unknown): string | null {
  if (ts === undefined || ts === null) return null;
  if (typeof ts !== "number" || !Number.isInteger(ts)) return "must be a whole number of milliseconds since 1970";
  if (ts < 0 || ts > TS_MS_MAX) return `must be from 0 to ${TS_MS_MAX}`;
  return null;
}

/** Of fields given twice the last counts, as everywhere. */
function extrasOf(text: string, members: JsonMember[]): string | null {
  const extras = members.filter(({ key }) => !KNOWN_FIELDS.has(key));
  if (extras.length === 0) return null;
  const last = new Map(extras.map((member) => [member.key, member]));
  return joinMembers(text, [...last.values()]);
}
