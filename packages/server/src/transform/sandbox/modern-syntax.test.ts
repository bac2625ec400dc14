/** The JavaScript people write today runs as it is. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { testRunner } from "../threads/run-for-test.ts";

const { runner, event } = testRunner({ limits: { timeoutMs: 10_000 } });
after(() => runner.stop());

const features: Record<string, [expression: string, value: unknown]> = {
  "optional chaining and nullish coalescing": ["[evt?.a?.b, evt.missing?.b?.(), evt.zero ?? 5, evt.missing ?? 5]", [1, null, 0, 5]],
  "logical assignment": ["(() => { let a = null; a ??= 1; a &&= 2; a ||= 3; return a; })()", 2],
  "spread and rest": [
    "(({ a, ...rest }, [x, ...xs]) => ({ a, rest, x, xs }))({ a: 1, b: 2 }, [1, 2, 3])",
    { a: 1, rest: { b: 2 }, x: 1, xs: [2, 3] },
  ],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
  "template literals and tags": ["((s, ...v) => s.raw.join('|') + v)`a${1}\\n${2}`", "a|\\n|1,2"],
  "classes with private and static members": [
    "(() => { class A { #n = 1; static s = 2; static { A.t = 3; } get n() { return this.#n; } has(o) { return #n in o; } } const a = new A(); return [a.n, A.s, A.t, a.has({})]; })()",
    [1, 2, 3, false],
  ],
  "generators and iteration": ["[...(function* () { yield* [1, 2]; yield 3; })()]", [1, 2, 3]],
  "bigint literals": ["String(2n ** 64n + 1n)", "18446744073709551617"],
  "numeric separators": ["1_000_000", 1_000_000],
  "named groups and lookbehind": ["'v=12'.match(/(?<=v=)(?<n>\\d+)/).groups.n", "12"],
  "regular expressions with u, s, y, d and v": [
    "[/\\p{L}/u.test('ł'), /a.b/s.test('a\\nb'), /b/d.exec('ab').indices[0][0], /[\\p{L}--[a-z]]/v.test('a')]",
    [true, true, 1, false],
  ],
  "matchAll and replaceAll": ["[[...'a1b2'.matchAll(/[a-z](\\d)/g)].map((m) => m[1]), 'aa'.replaceAll('a', 'b')]", [["1", "2"], "bb"]],
  "at, flat, flatMap, findLast": [
    "[[1, 2].at(-1), [[1], [2]].flat(), [1].flatMap((x) => [x, x]), [1, 2, 3].findLast((x) => x < 3)]",
    [2, [1, 2], [1, 1], 2],
  ],
  "toSorted, toReversed, with": [
    "[[2, 1].toSorted(), [1, 2].toReversed(), [1, 2].with(0, 9)]",
    [
      [1, 2],
      [2, 1],
      [9, 2],
    ],
  ],
  "Object.groupBy and fromEntries": [
    "[Object.groupBy([1, 2, 3], (n) => n % 2 ? 'odd' : 'even'), Object.fromEntries([['a', 1]])]",
    [{ odd: [1, 3], even: [2] }, { a: 1 }],
  ],
  "Object.hasOwn": ["Object.hasOwn({ a: 1 }, 'a')", true],
  "Map, Set and their methods": [
    "[[...new Set([1, 1, 2])], [...new Map([['a', 1]])], [...new Set([1, 2]).union(new Set([3]))]]",
    [[1, 2], [["a", 1]], [1, 2, 3]],
  ],
  "iterator methods": ["[1, 2, 3].values().map((x) => x * 2).filter((x) => x > 2).toArray()", [4, 6]],
  "error causes": ["new Error('a', { cause: 'b' }).cause", "b"],
  "labels, comma, exponent": ["(() => { outer: for (const a of [1, 2]) for (;;) { if (a === 1) continue outer; return a ** 3; } })()", 8],
  "optional catch binding": ["(() => { try { throw 1; } catch { return 2; } })()", 2],
  dates: [
    "[new Date('2024-02-29T12:00:00Z').toISOString(), Date.UTC(2024, 0, 1), new Date(1e12).getUTCFullYear()]",
    ["2024-02-29T12:00:00.000Z", 1704067200000, 2001],
  ],
  base64: ["[btoa('hi'), atob('aGk=')]", ["aGk=", "hi"]],
  "uri functions": ["[encodeURIComponent('ł&'), decodeURIComponent('%C5%82')]", ["%C5%82%26", "ł"]],
  "typed arrays": ["[...new Uint8Array([1, 256]).subarray(0, 2)]", [1, 0]],
  "Proxy and Reflect": ["Reflect.ownKeys(new Proxy({ a: 1 }, {}))", ["a"]],
  "well-formed text": ["['\\ud800'.isWellFormed(), 'a\\ud800'.toWellFormed()]", [false, "a\ufffd"]],
  "number formatting": ["[(1234.5).toFixed(2), (255).toString(16), Number('0x10'), parseFloat('1.5kg')]", ["1234.50", "ff", 16, 1.5]],
  eval: ["eval('1 + 1')", 2],
};

describe("modern JavaScript", () => {
  for (const [feature, [expression, value]] of Object.entries(features)) {
    it(feature, async () => {
      assert.deepEqual(await event(`(evt) => ({ value: ${expression} })`, { evtJson: `{"a":{"b":1},"zero":0}` }), { value });
    });
  }

  it("async iteration and promise combinators", async () => {
    const source = `export default async () => {
      const seen = [];
      for await (const x of (async function* () { yield 1; yield 2; })()) seen.push(x);
      const settled = await Promise.allSettled([Promise.resolve(1), Promise.reject(2)]);
      const any = await Promise.any([Promise.reject(1), Promise.resolve(3)]);
      const { promise, resolve } = Promise.withResolvers(); resolve(4);
      return { seen, settled: settled.map((s) => s.status), any, made: await promise };
    }`;
    assert.deepEqual(await event(source), { seen: [1, 2], settled: ["fulfilled", "rejected"], any: 3, made: 4 });
  });

  it("top-level await in a module", async () => {
    assert.deepEqual(await event(`const x = await Promise.resolve(7);\nexport default () => ({ x });`), { x: 7 });
  });
});
