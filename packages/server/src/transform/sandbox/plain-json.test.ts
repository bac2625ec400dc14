/** What is read from the engine's memory is what its own JSON.stringify writes, and whatever could tell the difference is left to it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jsonMembers } from "@inlet/protocol";
import { Deadline } from "./deadline.ts";
import { findPlainData } from "./find-plain-data.ts";
import { Guest, READ_AS } from "./guest.ts";
import { LogLines, logMemory } from "./log-lines.ts";
import { compileQuickJs } from "./quickjs.ts";

const BYTES_MAX = 100_000;
const MEMORY_BYTES = 32 * 1_048_576;
const LOG_LIMITS = { logLinesMax: 1, logBytesMax: 1 };
const module = compileQuickJs(MEMORY_BYTES);

/** The value of an expression in an engine of its own, and what is read from its memory. */
function read(expression: string, before = "") {
  const deadline = new Deadline();
  deadline.start(Number.POSITIVE_INFINITY);
  const guest = new Guest(module, { deadline, logs: new LogLines(LOG_LIMITS, logMemory(LOG_LIMITS)) });
  guest.initialize({ memoryBytes: MEMORY_BYTES, stackBytes: 262_144 });
  const plainJson = findPlainData(guest, BYTES_MAX);
  assert.ok(plainJson, "the engine keeps its data in another way than plain-json.ts knows");
  guest.evaluate(before, "test", READ_AS.script);
  const value = guest.evaluate(`(${expression})`, "test", READ_AS.script);
  return { guest, value, plain: guest.plainJson(plainJson, value) };
}

describe("plain data", () => {
  for (const expression of [
    "{}",
    "{ name: 'a/b', data: { list: [1, 'two', [3], {}], none: null }, ts: 1700000000 * 1000 }",
    'JSON.parse(\'{"amount":1.10,"big":12345678901234567890,"deep":[[[[1e400]]]]}\')',
    "{ text: '\\u0000\\u001f\"\\\\/\\b\\f\\n\\r\\t\\u007f\\u2028' }",
    "{ 'ké y': 'é', wide: 'ł€', pair: '😀', high: '\\ud83dx', low: 'x\\ude00', last: '\\ud83d' }",
    "[0, -0, 9, 10, -9, 2 ** 31, -(2 ** 31), 2 ** 53, 0.1, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, NaN, Infinity]",
    "{ a: undefined, b: [undefined], c: true, d: false, e: '' }",
    "Object.freeze({ a: Object.freeze({ b: 1 }) })",
    "Object.assign(Object.create(null), { a: 1 })",
    "(() => { const o = { a: 1, b: 2, c: 3 }; delete o.b; o.d = 4; delete o.a; o.b = 5; return o; })()",
    "(() => { const a = [1, 2, 3, 4]; a.pop(); a.shift(); a.push({ x: 1 }); return a; })()",
    "Object.fromEntries(Array.from({ length: 300 }, (_, n) => ['key' + n, 'v'.repeat(n)]))",
    "(() => { const shared = { a: 1 }; return [shared, shared]; })()",
  ]) {
    it(expression, () => {
      const { guest, value, plain } = read(expression);
      assert.equal(plain?.json, guest.text(guest.stringifyJson(value), BYTES_MAX));
      if (!plain?.json.startsWith("{")) return;
      const members = jsonMembers(plain.json);
      assert.deepEqual(
        plain.places,
        members.flatMap(({ start, end, depth }) => [start, end, depth]),
      );
    });
  }
});

describe("left to the engine", () => {
  for (const [what, expression, before] of [
    ["a getter", "{ get a() { return 1; } }"],
    ["what is not enumerable", "Object.defineProperty({}, 'a', { value: 1 })"],
    ["keys that are numbers", "{ b: 1, 7: 2, 1: 3 }"],
    ["keys that are large numbers", "{ b: 1, 3000000000: 2 }"],
    ["symbols", "{ [Symbol.iterator]: 1, [Symbol('x')]: 2 }"],
    ["functions", "{ a() {} }"],
    ["big integers", "{ a: 1n }"],
    ["toJSON of its own", "{ a: 1, toJSON() { return 2; } }"],
    ["toJSON within", "{ a: { toJSON: () => 2 } }"],
    ["toJSON of all objects", "{ a: 1 }", "Object.prototype.toJSON = () => 3;"],
    ["toJSON of all arrays", "[1]", "Array.prototype.toJSON = () => 3;"],
    ["toJSON that arrays inherit", "[1]", "Object.setPrototypeOf(Array.prototype, { toJSON: () => 3 });"],
    ["toJSON of an array", "Object.assign([1], { toJSON: () => 3 })"],
    ["dates", "{ at: new Date(0) }"],
    ["instances", "new (class { a = 1; toJSON() { return 4; } })()"],
    ["heirs", "Object.create({ toJSON: () => 5 })"],
    ["arrays of a class", "new (class extends Array { toJSON() { return 6; } })()"],
    ["proxies", "{ a: new Proxy({ b: 1 }, {}) }"],
    ["boxed values", "{ a: Object('x'), b: Object(1), c: Object(true) }"],
    ["maps, errors, typed arrays", "[new Map(), new Error('x'), new Uint8Array(2)]"],
    ["arguments", "(function () { return arguments; })(1, 2)"],
    ["holes", "[1, , 2]"],
    ["lengths without items", "new Array(3)"],
    ["slices of long text", "{ a: 'x'.repeat(10000).slice(1) }"],
    ["text glued together", "{ a: 'x'.repeat(9000) + 'y'.repeat(9000) }"],
    ["cycles", "(() => { const o = { a: {} }; o.a.o = o; return o; })()"],
    ["depth", "(() => { let o = {}; for (let n = 0; n < 200; n++) o = [o]; return o; })()"],
    ["more than it may be", "{ a: 'x'.repeat(60000), b: 'y'.repeat(60000) }"],
    ["more than it may be, in few objects", "(() => { let o = ['x']; for (let n = 0; n < 40; n++) o = [o, o]; return o; })()"],
  ] as const) {
    it(what, () => assert.equal(read(expression, before).plain, null));
  }
});
