/** What requests to twin services hold: values that are rare but valid, and some that are not. */

import type { Random } from "../attacks/attack-plan.ts";
import { HOSTILE_TEXTS } from "../attacks/hostile-values.ts";

export const NAMES = [
  "shop/order",
  "shop/order.paid",
  "shop/cart",
  "Shop/order",
  "a",
  "é/ü",
  "x.y.z",
  "shop/",
  "pay/*",
  "%",
  "a_b",
  "a%b",
  "😀",
  "ﬃ",
];
/** Those that start no function. */
export const QUIET_NAMES = NAMES.filter((name) => name !== "a" && !name.startsWith("shop/"));

export const PATTERNS = [...NAMES, "shop/*", "shop/order*", "*", "a*", "S*", "%*", "a_*", "😀*", "\ud83d*"];

export const DEDUP_IDS = ["1", "order-1", "a\0b", "\ud800", "é", "é", " ", "x".repeat(512), "__proto__"];

export const TEXTS = [
  "",
  "order",
  "ORDER",
  "ß",
  "SS",
  "İ",
  "i",
  "é",
  "%",
  "_",
  "\\",
  '"',
  "\u2028",
  "😀",
  "null",
  "4711",
  "{",
  "a\0b",
  "\ufdd0",
  "\ud800",
];

const NUMBERS = [
  "0",
  "-0",
  "1",
  "1.0",
  "1e2",
  "100",
  "1e400",
  "9007199254740993",
  "0.1",
  "-1e-7",
  "12345678901234567890.12345678901234567890",
];

export const WHERE = [
  "data.n > 1",
  "data.n == 1.0",
  "data.n == 9007199254740993",
  'data.text == "order"',
  'data.text.contains("é")',
  "data.text.matches('^[a-z]+$')",
  "size(data.text) == 1",
  "data.list[0] == 1",
  "'a' in data",
  "has(data.text) && data.text != ''",
  "data.missing == null",
  "data.n + 1 > 2 || user.id == 7",
  "v == '1' && ts > 0",
  "name.startsWith('shop')",
  "data.n / 0 == 1",
  "data.",
  "true",
  "data.text < 'p'",
];

export const LIMITS = ["1", "2", "3", "7", "20", "100"];

export const ENVIRONMENTS = ["staging", "feature/cart", "feature/a.b_c", "Staging", "production", "branch", "bad name"];

/** JSON, as text: numbers as they are written. */
export function value(random: Random, depth = 0): string {
  const kind = random.below(depth > 3 ? 4 : 6);
  if (kind === 0) return random.pick(NUMBERS);
  if (kind === 1) return JSON.stringify(random.pick(TEXTS));
  if (kind === 2) return random.pick(["true", "false", "null"]);
  if (kind === 3) return JSON.stringify(random.pick(HOSTILE_TEXTS));
  if (kind === 4) return `[${Array.from({ length: random.below(4) }, () => value(random, depth + 1)).join(",")}]`;
  return object(random, depth + 1);
}

export function object(random: Random, depth = 0): string {
  const fields = ["n", "text", "list", "a", "id", "__proto__", "n"].filter(() => random.next() < 0.4);
  return `{${fields.map((name) => `${JSON.stringify(name)}: ${value(random, depth)}`).join(", ")}}`;
}

export function event(random: Random, now: number, names: readonly string[]): string {
  const fields = [`"name":${JSON.stringify(random.pick(names))}`, `"data":${object(random)}`];
  if (random.next() < 0.3) fields.push(`"id":${JSON.stringify(random.pick(DEDUP_IDS))}`);
  if (random.next() < 0.2) fields.push(`"ts":${random.pick([0, now - 1_000, now, 8.64e15])}`);
  if (random.next() < 0.1) fields.push(`"user":${object(random)}`);
  if (random.next() < 0.1) fields.push('"v":"1"');
  if (random.next() < 0.1) fields.push(`"duplicates":7,"environment":"x","source":1`);
  if (random.next() < 0.04) fields.push(random.pick(['"name":""', '"data":[]', '"ts":-1', '"id":7', '"name":"inlet/x"']));
  return `{${fields.join(",")}}`;
}

export function query(random: Random, fields: Readonly<Record<string, () => string>>, share = 0.3): string {
  const chosen = Object.entries(fields).filter(() => random.next() < share);
  return new URLSearchParams(chosen.map(([name, make]): [string, string] => [name, make().toWellFormed()])).toString();
}

export function times(random: Random, now: number) {
  const time = () => String(now + random.pick([-1e9, -60_000, -5_000, -2, -1, 0, 1, 1e6]));
  return { from: time, to: time };
}
