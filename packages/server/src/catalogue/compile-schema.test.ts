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
  assert.ok("fault" in compiled, `${JSON.stringify(schema).slice(0, 200)} is taken`);
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
    [{ $id: "https://example.com/a" }, /must not use \$id/],
    [{ $schema: "http://json-schema.org/draft-07/schema#" }, /must be of the draft/],
    [{ properties: { a: { pattern: "(?=x)" } } }, /cannot be used/],
    [{ description: "x".repeat(70_000) }, /is larger than 65536 bytes/],
    [{ allOf: [{ $ref: "#" }] }, /leads back to itself/],
    [{ properties: { a: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } }, /contains itself more than once/],
    [{ properties: { a: { $ref: "#" } }, patternProperties: { a: { $ref: "#" } } }, /contains itself more than once/],
    [deep(50), /is nested more than 40 deep/],
    [doubling(20), /is too complex/],
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

test("neither a pattern nor unique items take long, whatever the data", () => {
  const began = performance.now();
  faultsOf({ properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(50_000)}!` });
  const items = Array.from({ length: 40_000 }, (_, n) => ({ n }));
  assert.deepEqual(faultsOf({ properties: { items: { uniqueItems: true } } }, { items }), []);
  const tookMs = performance.now() - began;
  assert.ok(tookMs < 5_000, `it took ${tookMs} ms`);
});

function deep(levels: number): object {
  return levels === 0 ? {} : { properties: { a: deep(levels - 1) } };
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
