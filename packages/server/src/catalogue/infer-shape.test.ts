import assert from "node:assert/strict";
import { test } from "node:test";
import { type Drift, SETTLED_SAMPLES, type Shape, withEvent } from "./infer-shape.ts";
import { compareOutlines, outlineOfSchema, outlineOfShape } from "./outline.ts";

function seen(all: readonly unknown[]): { shape: Shape; drift: Drift[] } {
  let shape: Shape | null = null;
  const drift: Drift[] = [];
  for (const [n, data] of all.entries()) {
    const next = withEvent(shape, { id: `e${n}`, data, at: 1_000 + n });
    shape = next.shape;
    drift.push(...next.drift);
  }
  return { shape: shape as Shape, drift };
}

test("fields are counted by event, with their types, and when they were first and last seen", () => {
  const { shape } = seen([
    { id: 1, items: [{ sku: "a" }, { sku: null }] },
    { id: 1.5, note: { "odd.key": true } },
    { id: 2, items: [] },
  ]);
  assert.equal(shape.samples, 3);
  assert.deepEqual(Object.keys(shape.fields).sort(), ["id", "items", "items[]", "items[].sku", "note", 'note."odd.key"']);
  assert.deepEqual(shape.fields.id, {
    count: 3,
    firstSeenAt: 1_000,
    lastSeenAt: 1_002,
    types: { integer: { count: 2, firstSeenAt: 1_000, lastSeenAt: 1_002 }, number: { count: 1, firstSeenAt: 1_001, lastSeenAt: 1_001 } },
  });
  assert.deepEqual(Object.keys(shape.fields["items[].sku"]?.types ?? {}), ["string", "null"]);
  assert.equal(shape.fields["items[]"]?.count, 1, "twice in one event is one event");
});

test("an unknown field or type is told once, after enough events were seen", () => {
  const usual = Array.from({ length: SETTLED_SAMPLES }, () => ({ id: 1 }));
  const { drift, shape } = seen([{ early: true }, ...usual, { id: "text", fresh: 1 }, { id: "text", fresh: 2 }]);
  assert.deepEqual(
    drift.map(({ kind, path, type, eventId }) => [kind, path, type, eventId]),
    [
      ["type", "id", "string", "e11"],
      ["field", "fresh", "integer", "e11"],
    ],
  );
  assert.deepEqual(shape.drift, drift);
});

test("depth, fields and maps are bounded", () => {
  let nested: unknown = 1;
  for (let n = 0; n < 50; n++) nested = { a: nested };
  assert.equal(Object.keys(seen([nested]).shape.fields).length, 8);
  const map = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`key${n}`, { n }]));
  assert.deepEqual(Object.keys(seen([{ map }]).shape.fields), ["map", "map.*", "map.*.n"]);
  const many = seen(
    Array.from({ length: 100 }, (_, event) => Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${event}_${n}`, 1]))),
  );
  assert.equal(Object.keys(many.shape.fields).length, 300);
  assert.equal(many.shape.isTruncated, true);
  assert.ok(many.shape.drift.length <= 50);
});

test("a schema and a shape can be compared", () => {
  const schema = {
    type: "object",
    required: ["id"],
    properties: { id: { type: "string" }, items: { type: "array", items: { $ref: "#/$defs/item" } }, gone: { type: "null" } },
    $defs: { item: { properties: { sku: { type: "string" } } } },
  };
  const { shape } = seen([{ id: 1, items: [{ sku: "a" }], fresh: true }]);
  const changes = compareOutlines(outlineOfSchema(schema), outlineOfShape(shape));
  assert.deepEqual(
    changes.map(({ path, change }) => `${change} ${path}`),
    ["added fresh", "removed gone", "changed id", "changed items", "changed items[]", "changed items[].sku"],
  );
  assert.deepEqual(changes[2], {
    path: "id",
    change: "changed",
    from: { types: ["string"], required: true },
    to: { types: ["integer"], required: true },
  });
  assert.deepEqual(compareOutlines(outlineOfSchema(schema), outlineOfSchema(schema)), []);
});
