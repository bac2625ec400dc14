/**
 * Bodies as text, for what no value of JavaScript can be written as: numbers without bound, very deep nesting, lone surrogates, keys that
 * occur twice. Each is sent alone, and in place of any one value of a body that the route would accept.
 */

import type { Random } from "./attack-plan.ts";
import { HOSTILE_TEXTS, type ValueSchema } from "./hostile-values.ts";

const DEEP = 20_000;
/** Larger than any route reads, or than any that takes it should need. */
const LONG = "x".repeat(10 * 1024 * 1024);

const HOSTILE_JSON: readonly string[] = [
  ...["null", "true", "0", "-0", "-1", "1.5", "7", "[]", "[null]", "{}", "[[]]", '""', '"a"', '"\\u0000"', '"a\\u0000b"', '"\\ud800"'],
  ...["1e400", "-1e400", "1e-400", "9".repeat(400), "9007199254740993", "2147483648", "-2147483649", "1e19", "1e308"],
  ...['{"__proto__":{"x":1}}', '{"constructor":{"prototype":{"x":1}}}', '{"toString":1,"valueOf":1,"then":1,"toJSON":1,"length":-1}'],
  ...['{"a":1,"a":2}', '[{"__proto__":null}]', '"../../../../etc/passwd"', '"file:///etc/passwd"', '"http://169.254.169.254/"'],
  ...['"NaN"', '"Infinity"', '"-1s"', '"99999999999d"', '"1e9d"', '"*"', '"production"', '["production"]', '"branch"'],
  "[".repeat(DEEP) + "]".repeat(DEEP),
  `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`,
  `[${"0,".repeat(50_000)}0]`,
  `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":0`).join()}}`,
];
/** Not JSON, or not only. */
const HOSTILE_BYTES: readonly (string | Uint8Array)[] = [
  ...["", " ", "{", "[", '{"a":}', "\ufeff{}", "{}\0", "undefined", "NaN", "{}{}", "<xml/>", "a=b&c=d", "\0".repeat(1_000)],
  Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d),
  Uint8Array.of(0x22, 0xc0, 0x80, 0x22),
  `"${LONG}"`,
  `{"a":"${LONG}"}`,
];

export type HostileBody = string | Uint8Array;

/** `example`: a body that the route accepts, if one is known. */
export function hostileBody(random: Random, schema: ValueSchema | null, example: unknown): HostileBody {
  if (random.next() < 0.15) return random.pick(HOSTILE_BYTES);
  if (random.next() < 0.15) return random.pick(HOSTILE_JSON);
  const base = example !== undefined && random.next() < 0.7 ? example : schema === null ? {} : usualValue(random, schema);
  return withOneReplaced(random, base);
}

/** A value that keeps to the schema, as far as a schema says it. */
function usualValue(random: Random, schema: ValueSchema, depth = 0): unknown {
  if (schema.enum) return random.pick(schema.enum);
  if (schema.anyOf) return usualValue(random, random.pick(schema.anyOf), depth + 1);
  switch ([schema.type ?? "string"].flat()[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => schema.required?.includes(name) || (depth < 4 && random.next() < 0.4))
          .map(([name, field]) => [name, usualValue(random, field, depth + 1)]),
      );
    case "array":
      return depth > 4 ? [] : [usualValue(random, schema.items ?? {}, depth + 1)];
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 1, 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "a";
  }
}

const HERE = "\u0001here";

/** One value anywhere in it, or a key, is another. */
function withOneReplaced(random: Random, base: unknown): string {
  const paths: string[][] = [];
  walk(base, [], paths);
  const at = random.pick(paths);
  const raw = random.next() < 0.3 ? JSON.stringify(random.pick(HOSTILE_TEXTS)) : random.pick(HOSTILE_JSON);
  const text = JSON.stringify(replaced(base, at));
  return text.replace(JSON.stringify(HERE), () => raw);
}

function walk(value: unknown, path: string[], paths: string[][]): void {
  paths.push(path);
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key], paths);
  if (!Array.isArray(value)) for (const key of ["__proto__", "unknown", ""]) paths.push([...path, key]);
}

function replaced(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return HERE;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  // As a property of its own: assigning __proto__ would change the prototype.
  Object.defineProperty(copy, key, {
    value: replaced((value as Record<string, unknown>)[key], rest),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return copy;
}
