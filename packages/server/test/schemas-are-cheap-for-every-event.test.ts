/**
 * A schema that is accepted is cheap for every event: time and memory are in proportion to the size of the event, and at most a
 * hundred errors are built. Any other schema is refused with the place in it.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { type CompiledSchema, compileSchema } from "../src/catalogue/compile-schema.ts";
import { attackInRounds, attackPlan } from "./support/attacks/attack-plan.ts";
import { costlyValue, randomSchema, randomValue } from "./support/attacks/random-schemas.ts";
import { startTestService } from "./support/service.ts";

const ROUNDS = 120;

test("random schemas that are accepted take no more work than counted, and judge as another validator does", async () => {
  let accepted = 0;
  const rounds = await attackInRounds(attackPlan(ROUNDS), async (random) => {
    const schema = randomSchema(random);
    const compiled = compileSchema(schema);
    if ("fault" in compiled) return;
    accepted++;
    for (const value of [...Array.from({ length: 5 }, () => costlyValue(random))]) assertCheap(compiled, schema, value);
    for (const value of Array.from({ length: 20 }, () => randomValue(random, 4))) {
      assertCheap(compiled, schema, value);
      assertSame(compiled, schema, value);
    }
  });
  assert.ok(accepted > rounds / 4, `only ${accepted} of ${rounds} schemas were accepted`);
});

function assertCheap({ cost, workOf, check }: CompiledSchema, schema: object, value: unknown): void {
  const bound = cost.fixed + cost.perCharacter * JSON.stringify(value).length;
  const work = workOf(value);
  assert.ok(work <= bound, `${work} units of work instead of ${bound}: ${JSON.stringify(schema)}`);
  assert.ok(check(value).length <= 100);
}

function assertSame({ check }: CompiledSchema, schema: object, value: unknown): void {
  // The other validator takes `contains` for satisfied by some empty arrays, and does not see all that a schema has evaluated.
  if (/unevaluated|contains/.test(JSON.stringify(schema))) return;
  const expected = otherValidator(schema)(value);
  const faults = check(value);
  assert.equal(faults.length === 0, expected, `${JSON.stringify(schema)} of ${JSON.stringify(value)}: ${JSON.stringify(faults)}`);
  assert.equal(check(value, 0).length === 0, expected);
}

const compiledByOther = new WeakMap<object, (value: unknown) => boolean>();

function otherValidator(schema: object): (value: unknown) => boolean {
  const regExp = Object.assign(
    (pattern: string) => ({ test: (text: string) => RE2JS.compile(pattern).test(text), toString: () => pattern }),
    { code: "regExp" },
  );
  const options = { strict: false, validateFormats: false, logger: false, ownProperties: true, code: { regExp } } as const;
  const known = compiledByOther.get(schema) ?? (new Ajv2020(options).compile(schema) as (value: unknown) => boolean);
  compiledByOther.set(schema, known);
  return known;
}

const WIDE = {
  type: "object",
  properties: { items: { type: "array", items: { type: "object", required: Array.from({ length: 30 }, (_, n) => `field${n}`) } } },
};
/** 510 KB of objects without any of the thirty fields. */
const MANY_EMPTY = `\`{"items":[\${Array.from({ length: 170_000 }, () => "{}").join()}]}\``;

test("one large event with millions of faults fits into a small heap, in every mode", async () => {
  const script = `
    import { Catalogue } from ${JSON.stringify(fileURLToPath(new URL("../src/catalogue/catalogue.ts", import.meta.url)))};
    const data = ${MANY_EMPTY};
    for (const mode of ["observe", "warn", "refuse"]) {
      const rows = [{ environmentId: "e", name: "n", schema: ${JSON.stringify(JSON.stringify(WIDE))}, mode }];
      const store = { eventSchemaList: async () => rows, eventSchemaFaultsAdd: async () => {} };
      const directory = { environments: () => [], environment: () => undefined };
      const catalogue = new Catalogue({ store, directory, log: console, now: Date.now });
      await catalogue.refresh();
      for (let times = 0; times < 5; times++) {
        const checked = catalogue.checkAll("e", [{ name: "n", data }]);
        const errors = mode === "refuse" ? checked.details : JSON.parse(checked[0].schemaErrors ?? "[]");
        if (errors.length !== { observe: 0, warn: 100, refuse: 100 }[mode]) throw new Error(mode + " " + errors.length);
      }
    }`;
  await assertFits(script, 64);
});

async function assertFits(script: string, heapMiB: number): Promise<void> {
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMiB}`, "--input-type=module", "--eval", script], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code, signal] = await once(child, "exit");
  assert.deepEqual([code, signal], [0, null]);
}

test("the shape of one large event stays small, and so does the part of it that is read", async () => {
  const script = `
    import { withEvent } from ${JSON.stringify(fileURLToPath(new URL("../src/catalogue/infer-shape.ts", import.meta.url)))};
    const many = (count, make) => Array.from({ length: count }, (_, n) => make(n)).join();
    const nested = (depth, make) => depth === 0 ? make() : many(3, (n) => '"k' + depth + n + '":{' + nested(depth - 1, make) + "}");
    const texts = {
      items: '{"items":[' + many(170_000, () => "{}") + "]}",
      keys: "{" + many(50_000, (n) => '"k' + n + '":' + (n % 2)) + "}",
      longKeys: "{" + many(5_000, (n) => '"' + "k".repeat(95) + n + '":0') + "}",
      distinct: '{"items":[' + many(20_000, (n) => '{"k' + n + '":[{"a' + n + '":1}]}') + "]}",
      wide: "{" + nested(9, () => '"a":1') + "}",
      deep: '{"a":' + "[".repeat(250_000) + "]".repeat(250_000) + "}",
      types: '{"a":[' + many(50_000, (n) => ["1", '"a"', "null", "{}", "[]"][n % 5]) + "]}",
    };
    for (const [name, text] of Object.entries(texts)) {
      const data = JSON.parse(text);
      let [shape, reads] = [null, 0];
      for (let times = 0; times < 30; times++) ({ shape } = withEvent(shape, { id: "e" + times, data, at: times }));
      const size = JSON.stringify(shape).length;
      if (Object.keys(shape.fields).length > 300 || size > 600_000) throw new Error(name + " has a shape of " + size + " characters");
      withEvent(null, { id: "e", data: counted(data, () => reads++), at: 0 });
      if (reads > 20_000) throw new Error(name + ": " + reads + " reads");
    }
    function counted(value, count) {
      if (typeof value !== "object" || value === null) return value;
      return new Proxy(value, { get: (of, key) => (count(), counted(of[key], count)) });
    }`;
  await assertFits(script, 96);
});

test("a request builds a bounded number of errors, however many events it has", async (t) => {
  const service = await startTestService(t);
  const schema = { required: Array.from({ length: 100 }, (_, n) => `field${n}`) };
  await service.rest("PUT", "/event-types/many", { body: { schema, mode: "warn" } });
  const { ids } = (await service.send(Array.from({ length: 2_000 }, () => ({ name: "many", data: {} })))).body;
  const errorsOf = async (id: string) => (await service.rest("GET", `/events/${id}`)).body.data.schema.errors.length;
  assert.deepEqual([await errorsOf(ids[0]), await errorsOf(ids.at(-1))], [100, 1]);
});

test("a schema that would be expensive, or is deep or broken, is refused with 400 and the place", async (t) => {
  const service = await startTestService(t);
  const nested = `${'{"properties":{"a":'.repeat(20_000)}{}${"}}".repeat(20_000)}`;
  const level = (n: number) => ({ dependencies: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } });
  const $defs = Object.fromEntries([...Array.from({ length: 30 }, (_, n) => [`d${n}`, level(n)]), ["d30", {}]]);
  const cases: [object, RegExp][] = [
    [{ properties: { x: { $ref: "#/$defs/d0" } }, $defs }, /is too complex.*at #\/\$defs\/d/],
    [
      { properties: { a: { dependencies: { a: { $ref: "#/properties/a" } } } } },
      /leads back to the same schema: put it under properties or items \(at #\/properties\/a/,
    ],
    [{ properties: { a: { $ref: "#/%zz" } } }, /which is not in it \(at #\/properties\/a\)/],
    [{ properties: { a: { pattern: "[ab]*a[ab]{1000}[cd]" } } }, /is too complex.*at #\/properties\/a/],
  ];
  for (const [schema, message] of cases) {
    const { status, body } = await service.rest("PUT", "/event-types/x", { body: { schema, mode: "refuse" } });
    assert.deepEqual([status, body.code], [400, "request_invalid"]);
    assert.match(body.error, message);
  }
  const deep = await service.rest("PUT", "/event-types/x", { body: `{"schema":${nested}}` });
  assert.deepEqual([deep.status, deep.body.code], [400, "body_invalid"]);
  const data = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const tried = await service.rest("POST", "/event-types/x/check", { body: `{"data":{"a":${data}}}` });
  assert.deepEqual([tried.status, tried.body.code], [400, "body_invalid"]);
});
