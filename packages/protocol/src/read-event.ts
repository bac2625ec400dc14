/** One event of a request: checked field by field, with its data and unknown fields as the sender's own text. */

import { DATA_DEPTH_MAX, DEDUP_ID_UNITS_MAX, eventNameFault, TS_MS_MAX } from "./event-rules.ts";
import { type JsonMember, joinMembers } from "./json-scan.ts";

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

/** The members of an event by field. As in JSON.parse, the last of several with one name is used. */
interface Fields {
  name: JsonMember | undefined;
  data: JsonMember | undefined;
  id: JsonMember | undefined;
  ts: JsonMember | undefined;
  extras: JsonMember[] | null;
}

export interface ReadEventOptions {
  /** Absent or null data is an empty object: SDKs send events without data. */
  dataOptional: boolean;
}

/** `members` are the positions of the event's fields in `text`, null if it is not an object. Null if a fault was reported. */
export function readEvent(
  text: string,
  members: JsonMember[] | null,
  report: Report,
  { dataOptional }: ReadEventOptions = { dataOptional: false },
): SentEvent | null {
  if (members === null) {
    report("event", "must be an object");
    return null;
  }
  const fields = sortFields(members);
  const name = fieldValue(text, fields.name);
  const id = fieldValue(text, fields.id);
  const ts = fieldValue(text, fields.ts);
  let faults = 0;
  const check = (field: string, fault: string | null) => {
    if (fault === null) return;
    report(field, fault);
    faults++;
  };
  check("name", eventNameFault(name));
  const isEmpty = dataOptional && (!fields.data || text[fields.data.start] === "n");
  check("data", isEmpty ? null : dataFault(text, fields.data));
  check("id", dedupIdFault(id));
  check("ts", tsFault(ts));
  if (faults > 0) return null;
  return {
    name: name as string,
    data: isEmpty || !fields.data ? "{}" : text.slice(fields.data.start, fields.data.end),
    extras: fields.extras && joinMembers(text, lastOfEach(fields.extras)),
    dedupId: (id as string | null | undefined) ?? null,
    ts: (ts as number | null | undefined) ?? null,
  };
}

function sortFields(members: JsonMember[]): Fields {
  const fields: Fields = { name: undefined, data: undefined, id: undefined, ts: undefined, extras: null };
  for (const member of members) {
    switch (member.key) {
      case "name":
        fields.name = member;
        break;
      case "data":
        fields.data = member;
        break;
      case "id":
        fields.id = member;
        break;
      case "ts":
        fields.ts = member;
        break;
      default:
        if (fields.extras) fields.extras.push(member);
        else fields.extras = [member];
    }
  }
  return fields;
}

/** Undefined if there is no such field. A simple string needs no parser. */
function fieldValue(text: string, member: JsonMember | undefined): unknown {
  if (!member) return undefined;
  const written = text.slice(member.start, member.end);
  return written.startsWith('"') && !written.includes("\\") ? written.slice(1, -1) : JSON.parse(written);
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

function lastOfEach(members: JsonMember[]): JsonMember[] {
  return [...new Map(members.map((member) => [member.key, member])).values()];
}
