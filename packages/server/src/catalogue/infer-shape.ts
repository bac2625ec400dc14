/**
 * The shape of the events of one name, inferred from traffic: which fields exist, with which types, how often, since when.
 * A pure function from a shape and one more event to the next shape. Bounded in depth and in the number of fields.
 */

export const JSON_TYPES = ["string", "integer", "number", "boolean", "null", "object", "array"] as const;
export type JsonType = (typeof JSON_TYPES)[number];

/** Counts are numbers of events, however often a field occurs in one. */
export interface Seen {
  count: number;
  firstSeenAt: number;
  lastSeenAt: number;
}

export interface ShapeField extends Seen {
  types: Partial<Record<JsonType, Seen>>;
}

export interface Drift {
  /** A new field, or a new type of a known field. */
  kind: "field" | "type";
  path: string;
  type: JsonType;
  at: number;
  eventId: string;
}

export interface Shape {
  /** How many events were examined. */
  samples: number;
  firstSeenAt: number;
  lastSeenAt: number;
  /** By path: `customer.id`, `items[].sku`; `*` stands for the keys of a map. */
  fields: Record<string, ShapeField>;
  /** There are more fields than are stored. */
  isTruncated: boolean;
  /** The most recent ones, oldest first. */
  drift: Drift[];
}

const DEPTH_MAX = 8;
const FIELDS_MAX = 300;
const ITEMS_MAX = 20;
/** An object with more keys than this is treated as a map. */
const KEYS_MAX = 60;
const KEY_LENGTH_MAX = 100;
const DRIFT_MAX = 50;
/** Before this many events, a new field is not drift. */
export const SETTLED_SAMPLES = 10;

export interface SeenEvent {
  id: string;
  data: unknown;
  at: number;
}

/** Also returns what was new about the event, once enough events were seen before it. */
export function withEvent(before: Shape | null, { id, data, at }: SeenEvent): { shape: Shape; drift: Drift[] } {
  const found = new Map<string, Set<JsonType>>();
  const isCut = !walk(data, "", 0, found);
  const shape: Shape = before
    ? { ...before, fields: { ...before.fields }, samples: before.samples + 1, lastSeenAt: Math.max(before.lastSeenAt, at) }
    : { samples: 1, firstSeenAt: at, lastSeenAt: at, fields: {}, isTruncated: false, drift: [] };
  const drift: Drift[] = [];
  for (const [path, types] of found) {
    const known = Object.hasOwn(shape.fields, path) ? shape.fields[path] : undefined;
    if (!known && Object.keys(shape.fields).length >= FIELDS_MAX) {
      shape.isTruncated = true;
      continue;
    }
    const fresh = [...types].filter((type) => known?.types[type] === undefined);
    if (before && before.samples >= SETTLED_SAMPLES)
      drift.push(...fresh.map((type): Drift => ({ kind: known ? "type" : "field", path, type, at, eventId: id })));
    shape.fields[path] = fieldWith(known, types, at);
  }
  shape.isTruncated ||= isCut;
  shape.drift = [...shape.drift, ...drift].slice(-DRIFT_MAX);
  return { shape, drift };
}

function fieldWith(known: ShapeField | undefined, types: ReadonlySet<JsonType>, at: number): ShapeField {
  const seen = { ...known?.types };
  for (const type of types) seen[type] = once(seen[type], at);
  return { ...once(known, at), types: seen };
}

function once(known: Seen | undefined, at: number): Seen {
  if (!known) return { count: 1, firstSeenAt: at, lastSeenAt: at };
  const { count, firstSeenAt, lastSeenAt } = known;
  return { count: count + 1, firstSeenAt: Math.min(firstSeenAt, at), lastSeenAt: Math.max(lastSeenAt, at) };
}

/** False if not all of it was examined. */
function walk(value: unknown, path: string, depth: number, found: Map<string, Set<JsonType>>): boolean {
  if (path !== "") {
    const types = found.get(path) ?? new Set();
    found.set(path, types.add(typeOf(value)));
  }
  if (typeof value !== "object" || value === null) return true;
  if (depth >= DEPTH_MAX || found.size > FIELDS_MAX) return false;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).every((item) => walk(item, `${path}[]`, depth + 1, found));
  const keys = Object.keys(value);
  const isMap = keys.length > KEYS_MAX || keys.some((key) => key.length > KEY_LENGTH_MAX);
  return keys
    .slice(0, KEYS_MAX)
    .map((key) => walk((value as Record<string, unknown>)[key], joined(path, isMap ? "*" : key), depth + 1, found))
    .every(Boolean);
}

/** Keys that contain path characters are quoted. */
function joined(path: string, key: string): string {
  const part = key === "" || /[.[\]"\s]/.test(key) ? JSON.stringify(key) : key;
  return path === "" ? part : `${path}.${part}`;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as JsonType;
}
