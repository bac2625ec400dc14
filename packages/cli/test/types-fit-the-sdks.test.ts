/**
 * `inlet types` writes what the SDKs take: the files are compiled with TypeScript against our SDK and against the published ones, with
 * code that must compile and code that must not. `check` says when they are out of date, `push` declares Standard Schemas.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type TestContext, test as testOnce } from "node:test";
import { fileURLToPath } from "node:url";
import { test } from "../../server/test/support/both-stores.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { startDev, workingFolder } from "./support/working-folder.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SCHEMA = {
  type: "object",
  required: ["orderId", "customer"],
  properties: {
    orderId: { type: "string", description: "As the shop numbers it" },
    state: { enum: ["open", "paid"] },
    pair: { type: "array", prefixItems: [{ type: ["string", "null"] }, { allOf: [{ $ref: "#/$defs/customer" }, { required: ["x"] }] }] },
    customer: { $ref: "#/$defs/customer" },
    lines: { type: "array", items: { type: "object", required: ["sku"], properties: { sku: { type: "string" }, part: { $ref: "#" } } } },
  },
  $defs: { customer: { type: "object", required: ["id"], properties: { id: { type: "string" }, friend: { $ref: "#/$defs/customer" } } } },
};
const DATA = `{ orderId: "o", customer: { id: "c", friend: { id: "d" } }, lines: [{ sku: "s" }] }`;

const USES = {
  inlet: `
import { Inlet } from "@inlet/sdk";
import { events } from "./events.ts";
const inlet = new Inlet({ id: "shop", events });
await inlet.send({ name: "shop/order.created", data: ${DATA} });
await inlet.send({ name: "shop/seen", data: { n: 1, tags: ["a"] } });
// @ts-expect-error
await inlet.send({ name: "shop/order.created", data: { orderId: 1 } });
inlet.createFunction({ id: "f" }, { event: "shop/order.created" }, ({ event }) => {
  const id: string = event.data.customer.id;
  const state: "open" | "paid" | undefined = event.data.state;
  // @ts-expect-error
  const wrong: number = event.data.orderId;
  return [id, state, wrong];
});`,
  "inngest-v3": `
import { Inngest } from "inngest";
import { schemas } from "./events.ts";
const inngest = new Inngest({ id: "shop", schemas });
await inngest.send({ name: "shop/order.created", data: ${DATA} });
// @ts-expect-error
await inngest.send({ name: "shop/order.created", data: { orderId: 1 } });
inngest.createFunction({ id: "f" }, { event: "shop/order.created" }, ({ event }) => {
  const id: string = event.data.customer.id;
  // @ts-expect-error
  const wrong: number = event.data.orderId;
  return [id, wrong];
});`,
  "inngest-v4": `
import { Inngest } from "inngest";
import { events } from "./events.ts";
const inngest = new Inngest({ id: "shop" });
await inngest.send(events["shop/order.created"].create(${DATA}));
// @ts-expect-error
events["shop/order.created"].create({ orderId: 1 });
inngest.createFunction({ id: "f", triggers: [events["shop/order.created"]] }, ({ event }) => {
  const id: string = event.data.customer.id;
  // @ts-expect-error
  const wrong: number = event.data.orderId;
  return [id, wrong];
});`,
} as const;

async function setUp(t: TestContext) {
  const url = await startDev(t);
  const place = workingFolder(t, { INLET_BASE_URL: url });
  const rest = async (method: string, path: string, body: object) => {
    const response = await fetch(`${url}${path}`, { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } });
    assert.ok(response.ok, await response.clone().text());
  };
  await rest("PUT", `/v1/event-types/${encodeURIComponent("shop/order.created")}`, { schema: SCHEMA, description: "An order */ here" });
  const odd = { n: 1.5, tags: [], deep: { "odd key": null } };
  await rest("POST", "/e/key", [
    { name: "shop/seen", data: { n: 1, tags: ["a"] } },
    { name: "shop/seen", data: odd },
    { name: "array", data: { tags: ["named as what the file uses"] } },
  ] as object);
  return { url, place };
}

/** Compiled as a user would, with the SDK under its own name. */
function compile(t: TestContext, sdk: keyof typeof USES, text: string): void {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "node_modules/@inlet"), { recursive: true });
  mkdirSync(join(folder, "node_modules/@types"));
  symlinkSync(join(ROOT, "packages/sdk"), join(folder, "node_modules/@inlet/sdk"));
  symlinkSync(join(ROOT, "node_modules", sdk === "inngest-v3" ? "inngest-v3" : "inngest"), join(folder, "node_modules/inngest"));
  symlinkSync(join(ROOT, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "events.ts"), text);
  writeFileSync(join(folder, "use.ts"), USES[sdk]);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  try {
    execFileSync(process.execPath, [join(typescript, "bin/tsc"), "-p", folder], { stdio: "pipe" });
  } catch (error) {
    assert.fail(`${(error as { stdout: Buffer }).stdout}\n${text}`);
  }
}

testOnce("the files compile against every SDK, which then knows the events", async (t) => {
  const { place } = await setUp(t);
  for (const sdk of Object.keys(USES) as (keyof typeof USES)[]) {
    const { code, stdout, stderr } = await place.inlet(["types", "--sdk", sdk, "--out", "-"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /"n": number/);
    compile(t, sdk, stdout);
  }
});

test("check fails when the file is missing or out of date", async (t) => {
  const { url, place } = await setUp(t);
  const check = () => place.inlet(["types", "check", "--out", "events.ts"]);
  assert.deepEqual([(await check()).code, /does not exist/.test((await check()).stdout)], [1, true]);
  assert.equal((await place.inlet(["types", "--out", "events.ts"])).code, 0);
  assert.equal((await check()).code, 0);
  const body = JSON.stringify({ schema: { type: "object" } });
  await fetch(`${url}/v1/event-types/fresh`, { method: "PUT", body, headers: { "content-type": "application/json" } });
  const { code, stdout } = await check();
  assert.deepEqual([code, /is out of date/.test(stdout)], [1, true]);
});

test("push declares the Standard Schemas of a client as JSON Schema", async (t) => {
  const { url, place } = await setUp(t);
  symlinkSync(join(ROOT, "node_modules"), join(place.folder, "node_modules"));
  writeFileSync(
    join(place.folder, "client.ts"),
    `import { z } from "zod/v4";
const standard = { version: 1, vendor: "own", validate: (value: unknown) => ({ value }), jsonSchema: { input: () => ({ type: "object", required: ["a"] }) } };
export const client = { schemas: { "push/zod": z.object({ id: z.string(), n: z.number().optional(), at: z.coerce.date() }), "push/own": { "~standard": standard } } };`,
  );
  const pushed = await place.inlet(["types", "push", "client.ts", "--mode", "warn"]);
  assert.equal(pushed.code, 0, pushed.stderr);
  const read = async (name: string) =>
    (
      (await (await fetch(`${url}/v1/event-types/${encodeURIComponent(name)}`)).json()) as {
        data: { schema: Record<string, unknown>; mode: string };
      }
    ).data;
  const zod = await read("push/zod");
  assert.deepEqual([zod.mode, zod.schema.required], ["warn", ["id", "at"]]);
  assert.deepEqual((zod.schema.properties as Record<string, unknown>).at, {}, "any value may be coerced");
  assert.deepEqual((await read("push/own")).schema, { type: "object", required: ["a"] });
  const dates =
    'import { z } from "zod/v4"; export const events = { "push/date": z.object({ list: z.array(z.object({ at: z.date() })) }) };';
  writeFileSync(join(place.folder, "dates.ts"), dates);
  const date = await place.inlet(["types", "push", "dates.ts"]);
  assert.equal(date.code, 1);
  assert.match(date.stderr, /"push\/date": data\.list\[\]\.at is a date, which JSON cannot contain\. Use z\.coerce\.date\(\)/);
  writeFileSync(
    join(place.folder, "old.ts"),
    'import { z } from "zod/v3"; export const events = { "push/old": z.object({ id: z.string() }) };',
  );
  const old = await place.inlet(["types", "push", "old.ts"]);
  assert.deepEqual([old.code, /The schema of "push\/old" is made with zod 3, .* Use zod 4/.test(old.stderr)], [1, true], old.stderr);
  assert.match((await place.inlet(["--help"])).stdout, /inlet types +Writes a TypeScript file .* Also: types check, types push\./);
  writeFileSync(join(place.folder, "none.ts"), "export const nothing = 1;");
  const none = await place.inlet(["types", "push", "none.ts"]);
  assert.deepEqual([none.code, /exports neither/.test(none.stderr)], [1, true]);
});
