import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema, type SchemaFault } from "./compile-schema.ts";

function faultsOf(schema: object, data: unknown): SchemaFault[] {
  const compiled = compileSchema(schema);
  assert.ok("check" in compiled, JSON.stringify(compiled));
  return compiled.check(data);
}

function faultOf(schema: unknown): string {
  const compiled = compileSchema(schema);
  assert.ok("fault" in compiled, "it is taken");
  return compiled.fault;
}

const ORDER = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  required: ["orderId", "amount"],
  properties: {
    orderId: { type: "string", pattern: "^o_[0-9]+$" },
    amount: { type: "number", minimum: 0 },
    at: { type: "string", format: "date-time" },
    customer: { $ref: "#/$defs/customer" },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
  },
  additionalProperties: false,
  $defs: { customer: { type: "object", required: ["id"], properties: { id: { type: "string" } } } },
};

test("each fault is named with a pointer into the data", () => {
  assert.deepEqual(faultsOf(ORDER, { orderId: "o_1", amount: 1, at: "any text: format asserts nothing", tags: ["a"] }), []);
  const faults = faultsOf(ORDER, {
    orderId: "x",
    customer: {},
    "a/b~c": 1,
    tags: [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
  });
  assert.deepEqual(faults.map(({ path }) => path).sort(), [
    "/amount",
    "/a~1b~0c",
    "/customer/id",
    "/orderId",
    "/tags",
    "/tags/0",
    "/tags/1",
  ]);
  assert.equal(faults.find(({ path }) => path === "/amount")?.message, "is required");
});

test("multiples are compared as decimals", () => {
  const multiples = [
    [0.01, [19.99, -19.99, 1.1, 4.35, 0, 1e15, 23456789012345.67]],
    [0.1, [0.3, 0.7, 1e300]],
    [1e-8, [12391239123, 0.00000001]],
    [3, [9007199254740990, 1e300]],
  ] as const;
  for (const [multipleOf, values] of multiples) {
    for (const value of values) assert.deepEqual(faultsOf({ multipleOf }, value), [], `${value} of ${multipleOf}`);
  }
  const others = [
    [0.01, [19.995, 0.001, 19.990000000000002]],
    [0.1, [0.30000000000000004]],
    [3, [9007199254740991, 0.3]],
    [1e-300, [1e300]],
  ] as const;
  for (const [multipleOf, values] of others) {
    for (const value of values)
      assert.equal(faultsOf({ multipleOf }, value)[0]?.message, `must be multiple of ${multipleOf}`, String(value));
  }
});

test("fields of an object's prototype are no fields", () => {
  assert.deepEqual(
    faultsOf({ required: ["toString"], properties: { toString: { type: "string" } } }, {}).map(({ path }) => path),
    ["/toString"],
  );
});

test("no more than a hundred faults are reported", () => {
  const data = { items: Array.from({ length: 5_000 }, () => "text") };
  assert.equal(faultsOf({ properties: { items: { items: { type: "number" } } } }, data).length, 100);
});

test("what cannot be used is refused with a sentence", () => {
  const cases: [unknown, RegExp][] = [
    [[], /must be a JSON Schema: an object/],
    [{ type: "strong" }, /is not a JSON Schema/],
    [{ $ref: "https://example.com/schema" }, /only to places inside itself/],
    [{ $ref: "#/$defs/missing" }, /refers to #\/\$defs\/missing, which is not in it/],
    [{ properties: { a: { $ref: "#/%zz" } } }, /refers to #\/%zz, which is not in it \(at #\/properties\/a\)/],
    [{ properties: { a: { $dynamicRef: "#a" } } }, /must not use \$dynamicRef \(at #\/properties\/a\)/],
    [{ items: { type: 1 } }, /is not a JSON Schema: schema\/items\/type .* \(at #\/items\/type\)/],
    [{ $ref: "#/examples/0", examples: [{ minimum: "1" }] }, /is not a JSON Schema: schema\/minimum/],
    [{ properties: { a: { pattern: "(?=x)" } } }, /cannot be used/],
    [{ description: "x".repeat(70_000) }, /is larger than 65536 bytes/],
    [{ allOf: [{ $ref: "#" }] }, /leads back to the same schema/],
    [{ properties: { a: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } }, /refers to itself twice/],
    [{ properties: { a: { $ref: "#" } }, patternProperties: { a: { $ref: "#" } } }, /refers to itself twice/],
    [
      { items: { $ref: "#" }, allOf: [{ $ref: "#/$defs/other" }], $defs: { other: { items: { $ref: "#/$defs/other" } } } },
      /applies another recursive schema/,
    ],
    [{ dependencies: { a: { $ref: "#" } } }, /leads back to the same schema/],
    [dependent(20), /is too complex/],
    [deep(50), /is nested more than 40 deep/],
    [deep(20_000), /is nested more than 40 deep/],
    [{ pattern: "[ab]*a[ab]{1000}[cd]" }, /is too complex/],
    [{ pattern: `(${"a?".repeat(490)}){1000}` }, /has a pattern that is too large/],
    [{ pattern: "a".repeat(1_001) }, /has a pattern of more than 1000 characters/],
    [doubling(20), /is too complex/],
    [
      { properties: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [n, { pattern: `${n}[ab]*a[ab]{9}` }])) },
      /has too many patterns/,
    ],
    [{ pattern: "[ab]*a[ab]{13}[cd]" }, /is too complex/],
    [{ items: { anyOf: Array.from({ length: 59 }, () => ({ type: "object" })) } }, /is too complex/],
    [{ items: { allOf: Array.from({ length: 40 }, () => ({ multipleOf: 0.1, minimum: 0, maximum: 9 })) } }, /is too complex/],
    [{ items: { enum: Array.from({ length: 100 }, (_, n) => ({ n, m: n })) } }, /is too complex/],
    [{ anyOf: Array.from({ length: 20 }, () => ({ contains: {} })), unevaluatedItems: false }, /is too complex/],
  ];
  for (const [schema, expected] of cases) assert.match(faultOf(schema), expected);
});

test("trees may contain themselves, once for each child", () => {
  const tree = {
    type: "object",
    properties: { left: { $ref: "#" }, right: { $ref: "#" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  };
  assert.deepEqual(faultsOf(tree, { left: { right: {} }, children: [{ next: { next: 1 } }] }), [
    { path: "/children/0/next/next", message: "must be object" },
  ]);
});

test("$id and $schema have no effect", () => {
  const schema = {
    $id: "https://example.com/order",
    $schema: "http://json-schema.org/draft-07/schema#",
    properties: { a: { $ref: "#/$defs/a" } },
  };
  assert.deepEqual(faultsOf({ ...schema, $defs: { a: { $id: "other", type: "string" } } }, { a: 1 }), [
    { path: "/a", message: "must be string" },
  ]);
});

test("usual schemas are cheap enough", () => {
  for (const pattern of USUAL_PATTERNS) faultsOf({ pattern }, "");
  const text = { type: "string", minLength: 1, maxLength: 200 };
  const fields = Object.fromEntries([
    ...Array.from({ length: 20 }, (_, n) => [`text${n}`, text]),
    ...USUAL_PATTERNS.map((pattern, n) => [`pattern${n}`, { type: ["string", "null"], pattern }]),
    ["currency", { enum: Array.from({ length: 200 }, (_, n) => `C${n}`) }],
    ["amount", { type: "number", minimum: 0, multipleOf: 0.01 }],
  ]);
  const row = { type: "object", properties: fields, required: Object.keys(fields), additionalProperties: false };
  const kinds = Array.from({ length: 6 }, (_, n) => ({ ...row, properties: { ...fields, kind: { const: `k${n}` } } }));
  let nested: object = row;
  for (let level = 0; level < 8; level++) nested = { type: "object", properties: { inner: nested }, required: ["inner"] };
  const tree = { type: "object", properties: { name: text, children: { type: "array", items: { $ref: "#" } } }, required: ["name"] };
  const usual = [
    row,
    nested,
    tree,
    { properties: { rows: { type: "array", items: row, minItems: 1, uniqueItems: true } } },
    { properties: { row: { anyOf: [row, { type: "null" }] } } },
    { properties: { tags: { type: "array", items: text, uniqueItems: true, contains: { const: "a" } } } },
    { additionalProperties: { type: "array", items: { oneOf: Array.from({ length: 12 }, (_, n) => ({ const: n })) } } },
    { patternProperties: { "^x-": text, "^[a-z]+$": { type: "number" } }, propertyNames: { maxLength: 40 } },
    { allOf: [row, { properties: { more: text } }], unevaluatedProperties: false },
    { oneOf: kinds.map((kind) => ({ ...kind, properties: { kind: kind.properties.kind, row: { properties: { a: text } } } })) },
    { if: { properties: { kind: { const: "a" } } }, else: row },
  ];
  for (const schema of usual) faultsOf(schema, {});
});

const USUAL_PATTERNS = [
  "^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$",
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$",
  "^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9])\\.)*([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]{0,61}[A-Za-z0-9])$",
  "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
  "(?i)\\b(error|warning)\\b",
  "^\\p{Lu}[\\p{L} '-]{0,99}$",
  "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
  "^[A-Za-z0-9_-]{1,64}$",
  "^.{1,255}$",
  "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$",
  "^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$",
  "^[a-z0-9]+(?:-[a-z0-9]+)*$",
  "^\\+?[1-9]\\d{1,14}$",
  "^https?://[^\\s]+$",
  "^[0-9.]{7,15}$",
  "^[a-z0-9][a-z0-9.-]{0,252}$",
  "^#[0-9a-fA-F]{6}$",
  "^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$",
  "^(active|paused|ended)$",
  "^-?\\d+(\\.\\d{1,2})?$",
  "[0-9]+",
];

test("faults stay small, however long a key or a pattern is", () => {
  const pattern = `^${"a".repeat(900)}$`;
  const data = { ["k".repeat(100_000)]: Array.from({ length: 200 }, () => "x") };
  const faults = faultsOf({ additionalProperties: { items: { pattern } } }, data);
  assert.ok(JSON.stringify(faults).length < 200_000);
});

test("faults that look the same, because their paths are cut, are not built without end", () => {
  let reads = 0;
  const items = new Proxy(
    Array.from({ length: 50_000 }, () => 1),
    {
      get(of, key) {
        reads++;
        return Reflect.get(of, key);
      },
    },
  );
  const schema = { properties: { valid: { items: { type: "number" } } }, additionalProperties: { items: { type: "string" } } };
  const data = { valid: Array.from({ length: 50_000 }, () => 1), ["k".repeat(2_000)]: items };
  assert.equal(faultsOf(schema, data).length, 1);
  assert.ok(reads < 5_000, `${reads} reads`);
});

test("the faults of alternatives are found, too, and never more work is done than twice that of the match", () => {
  const list = { properties: { next: { anyOf: [{ type: "null" }, { $ref: "#" }] }, value: { type: "string" } } };
  const faults = faultsOf(list, { next: { next: { next: null, value: 1 } } });
  assert.deepEqual(faults.at(0), { path: "/next", message: "must be null" });
  assert.ok(faults.some(({ path }) => path === "/next/next/value"));
  let deep: object = { value: 1, next: null };
  for (let level = 0; level < 500; level++) deep = { next: deep };
  assert.ok(faultsOf(list, deep).length > 0);
});

test("neither a pattern nor unique items take long, whatever the data", () => {
  const began = process.threadCpuUsage();
  faultsOf({ properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(50_000)}!` });
  for (const pattern of USUAL_PATTERNS) faultsOf({ properties: { a: { pattern } } }, { a: "a1-.".repeat(12_500) });
  const items = Array.from({ length: 40_000 }, (_, n) => ({ n }));
  assert.deepEqual(faultsOf({ properties: { items: { uniqueItems: true } } }, { items }), []);
  const tookMs = process.threadCpuUsage(began).user / 1_000;
  assert.ok(tookMs < 5_000, `it took ${tookMs} ms of CPU time`);
});

function deep(levels: number): object {
  let schema = {};
  for (let level = 0; level < levels; level++) schema = { properties: { a: schema } };
  return schema;
}

/** Each level applies the next one twice, by a keyword of older drafts. */
function dependent(levels: number): object {
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, n) => [
      `d${n}`,
      n === levels - 1 ? {} : { dependencies: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } },
    ]),
  );
  return { $ref: "#/$defs/d0", $defs };
}

/** Each definition applies the next one twice. */
function doubling(levels: number): object {
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, n) => [
      `d${n}`,
      n === levels - 1 ? {} : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  );
  return { $ref: "#/$defs/d0", $defs };
}
