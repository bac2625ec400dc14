import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson } from "./canonical-json.ts";

/** What a JavaScript reader makes of the text, with every object's members sorted. */
function reference(text: string): string {
  const write = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`).join(",")}}`;
  };
  return write(JSON.parse(text));
}

function rounded(text: string): string {
  return canonicalJson(text, { exactNumbers: false });
}

function exact(text: string): string {
  return canonicalJson(text, { exactNumbers: true });
}

test("the example of RFC 8785", () => {
  const text = `{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
    "literals": [null, true, false]
  }`;
  assert.equal(
    rounded(text),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test("members are sorted by UTF-16 code units", () => {
  const text = '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}';
  assert.equal(rounded(text), '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
});

test("values of every kind, at the top too", () => {
  const cases: [string, string][] = [
    ["{}", "{}"],
    [" { } ", "{}"],
    ["[]", "[]"],
    ["[ ]", "[]"],
    ['{"a":{ },"b":[ ]}', '{"a":{},"b":[]}'],
    ["1", "1"],
    [" -0 ", "0"],
    ["1.0", "1"],
    ["1e2", "100"],
    ['"a"', '"a"'],
    ["null", "null"],
    ["[1, 2]", "[1,2]"],
    ['{"b":1,"a":[{"d":1,"c":2}]}', '{"a":[{"c":2,"d":1}],"b":1}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1,"b":2,"\\u0061":3}', '{"a":3,"b":2}'],
    ['{"b":0,"a":1,"b":2}', '{"a":1,"b":2}'],
    ['{"a" :1}', '{"a":1}'],
    ['{"a": 1}', '{"a":1}'],
    ['{"\\n":1}', '{"\\n":1}'],
    ['{"__proto__":1,"a":2}', '{"__proto__":1,"a":2}'],
    ['"\\/\\u0041\\u001F"', '"/A\\u001f"'],
    ['"\u2028\u007f"', '"\u2028\u007f"'],
  ];
  for (const [text, expected] of cases) assert.equal(rounded(text), expected, text);
});

test("numbers beyond a double keep their digits when asked, and are rounded else", () => {
  const beyond = ["12345678901234567890", "9007199254740993", "-0.12345678901234567891", "1e-400", "1.00000000000000000000000000001E+5"];
  for (const token of beyond) {
    assert.equal(exact(`[${token}]`), `[${token}]`);
    assert.equal(rounded(`[${token}]`), `[${JSON.stringify(JSON.parse(token))}]`);
  }
  const within = [
    "1.50",
    "0.1",
    "1e21",
    "123456789012345680000",
    "100e-2",
    "-0.0",
    "0e99999",
    "5e-324",
    "1.7976931348623157e308",
    "9007199254740992",
  ];
  for (const token of within) assert.equal(exact(token), JSON.stringify(JSON.parse(token)), token);
  for (const token of ["1e400", "-1e400"]) {
    assert.equal(exact(token), token);
    assert.equal(rounded(token), token);
  }
});

test("half of a surrogate pair stays an escape", () => {
  assert.equal(rounded('["\\uD800","\\udc00x","\\ud83d\\ude00"]'), '["\\ud800","\\udc00x","😀"]');
  assert.equal(rounded('{"\ud800":"\udfff"}'), '{"\\ud800":"\\udfff"}');
});

test("nesting costs no stack", () => {
  for (const depth of [600, 100_000]) {
    const text = `${'{"b":[ '.repeat(depth)}1${' ],"a":0}'.repeat(depth)}`;
    assert.equal(rounded(text), `${'{"a":0,"b":['.repeat(depth)}1${"]}".repeat(depth)}`);
  }
});

test("many members", () => {
  const keys = Array.from({ length: 1_000 }, (_, i) => `k${(i * 7_919) % 1_000}`);
  const text = `{${keys.map((key, i) => `"${key}":${i}`).join(",")}}`;
  assert.equal(rounded(text), reference(text));
  assert.equal(rounded(`{"k5":0,${text.slice(1)}`), reference(text));
});

test("what is not JSON is refused", () => {
  const texts = [
    "",
    "{",
    "[",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "[1,]",
    "[1 2]",
    "[1}",
    '{"a":1]',
    '{"a";1}',
    "{1:2}",
    "01",
    "-",
    "1.",
    "1e",
    '"',
    '"\\x"',
    "tru",
    "nulll",
    "{} x",
    "[}",
    "{]",
    "{a:1}",
    '"\n"',
    "\u00a0{}",
  ];
  for (const text of texts) assert.throws(() => rounded(text), TypeError, text);
  assert.throws(() => rounded("[1;2]"), { message: "not JSON at character 3" });
});

/** Mulberry32: the same values for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test("random texts come out as a JavaScript reader would write them, and unchanged the second time", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = generator(seed);
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T;
  const space = () => (below(6) === 0 ? pick([" ", "\n", "\t ", "  "]) : "");
  const PIECES = ["a", "B", "é", "€", "😀", "\\n", "\\u0041", "\\u001f", '\\"', "\\\\", "\\/", "\\ud800", "\ud83d", "0", " "];
  const string = (pieces = PIECES) => `"${Array.from({ length: below(5) }, () => pick(pieces)).join("")}"`;
  // JSON.parse of V8 13.6 can take an escaped key for another one: keys here have no escapes, other tests have those.
  const PLAIN_PIECES = PIECES.filter((piece) => !piece.startsWith("\\"));
  const number = () =>
    pick([
      `${below(100)}`,
      `-${below(100)}`,
      `${random()}`,
      `${below(1e9)}.${below(1e6)}0`,
      `${below(99)}e${below(40) - 20}`,
      `${below(9) + 1}${below(1e15)}${below(1e9)}`,
    ]);
  const value = (depth: number): string => {
    const kind = below(depth > 4 ? 4 : 6);
    if (kind < 1) return pick(["null", "true", "false"]);
    if (kind < 3) return string();
    if (kind < 4) return number();
    const parts = Array.from({ length: below(6) }, () =>
      kind === 4
        ? space() + value(depth + 1) + space()
        : `${space()}${string(PLAIN_PIECES)}${space()}:${space()}${value(depth + 1)}${space()}`,
    );
    return kind === 4 ? `[${space()}${parts.join(",")}]` : `{${space()}${parts.join(",")}}`;
  };
  for (let i = 0; i < 5_000; i++) {
    const text = space() + value(0) + space();
    const canonical = rounded(text);
    assert.equal(canonical, reference(text), `seed ${seed}, text ${JSON.stringify(text)}`);
    assert.equal(rounded(canonical), canonical, `seed ${seed}`);
    assert.equal(exact(exact(text)), exact(text), `seed ${seed}`);
    assert.equal(reference(exact(text)), reference(text), `seed ${seed}`);
  }
});
