/** Values that are hard to read, store or compare, and requests made of them by the description of a route. */

import type { Random } from "./attack-plan.ts";

export const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  "\0",
  "a\0b",
  "\n\r",
  "\u2028",
  "\ud800",
  "\udfff\ud800x",
  "%",
  "%00",
  "%zz",
  "*",
  "a*",
  "'\"`;--",
  "\\",
  "../../etc",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "true",
  "{}",
  "[]",
  "-1",
  "0",
  "1e400",
  "-1e400",
  "99999999999999999999",
  "NaN",
  "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
  "2026-13-45",
  "+275760-09-13T00:00:00.001Z",
  "8640000000000001",
  "data.a ==",
  "size(data) > 0",
  "data['\\u0000'] == 'x'",
  "İ",
  "😀".repeat(50),
  "x".repeat(5_000),
];

const HOSTILE_VALUES: readonly unknown[] = [
  ...HOSTILE_TEXTS,
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  [],
  [null],
  [[]],
  {},
  { toString: 1 },
  JSON.parse('{"__proto__":{"x":1}}'),
  "x".repeat(100_000),
  Array.from({ length: 50 }, () => ({})),
];

/** A JSON Schema, as far as routes use it. */
export interface ValueSchema {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  anyOf?: readonly ValueSchema[];
  properties?: Readonly<Record<string, ValueSchema>>;
  required?: readonly string[];
  items?: ValueSchema;
  minimum?: number;
  maximum?: number;
}

const DEPTH_MAX = 5;
const HOSTILE_SHARE = 0.4;

/** Half of what the schema asks for, half something else, at every level. */
export function hostileValue(random: Random, schema: ValueSchema, depth = 0): unknown {
  if (random.next() < HOSTILE_SHARE || depth > DEPTH_MAX) return random.pick(HOSTILE_VALUES);
  if (schema.enum) return random.pick(schema.enum);
  if (schema.anyOf) return hostileValue(random, random.pick(schema.anyOf), depth + 1);
  switch ([schema.type ?? "string"].flat()[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => random.next() < (schema.required?.includes(name) ? 0.95 : 0.5))
          .map(([name, field]) => [name, hostileValue(random, field, depth + 1)]),
      );
    case "array":
      return Array.from({ length: random.below(3) }, () => hostileValue(random, schema.items ?? {}, depth + 1));
    case "integer":
    case "number":
      return random.pick([1, 20, schema.minimum ?? 0, schema.maximum ?? 10, 2 ** 31, Number.MAX_SAFE_INTEGER]);
    case "boolean":
      return random.next() < 0.5;
    default:
      return random.pick(HOSTILE_TEXTS);
  }
}
