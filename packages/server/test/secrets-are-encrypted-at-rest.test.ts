/**
 * Signing keys, webhook secrets and requests of open steps are on disk in encrypted form only, under a key that is kept apart and can be
 * rotated.
 */

import assert from "node:assert/strict";
import { readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { EnvironmentId, RunId, WebhookId } from "@inlet/protocol";
import { adoptKey } from "../src/receive/senders/issue-key.ts";
import { advance, beginOne, makeScene, sampleStep, stepId } from "../src/store/conformance/run-samples.ts";
import { NO_SECRETS, type Store, StoreRefused } from "../src/store/contract/index.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { SIGNING_KEY, temporaryFolder } from "./support/service.ts";

const hooks = { onFault: () => undefined, onRecovery: () => undefined };
const [OLD, NEW, OTHER] = ["old", "new", "other"].map((name) => `${name} encryption key, long enough for it`) as [string, string, string];
const SECRET = "the secret of a provider";
const REQUEST = { method: "POST", url: "https://api.example/", headers: { authorization: `Bearer ${SECRET}` }, body: SECRET };
const SECRETS = [SIGNING_KEY, SECRET, REQUEST];

interface Engine {
  open(encryptionKeys: string[]): Store | Promise<Store>;
  /** Every text of the tables with secrets. */
  texts(): Promise<string>;
}

function sqlite(t: TestContext): Engine & { folder: string } {
  const folder = temporaryFolder(t);
  return {
    folder,
    open: (encryptionKeys) => openSqliteStore({ folder, encryptionKeys, ...hooks }),
    texts: async () => readFileSync(join(folder, "inlet.db"), "latin1"),
  };
}

async function postgres(t: TestContext): Promise<Engine> {
  const url = await migratedDatabase(t);
  return {
    open: (encryptionKeys) => openPatientStore({ url, encryptionKeys, ...hooks }),
    texts: () =>
      inDatabase(url, async (client) => {
        const texts = ["keys", "webhooks", "steps"].map((table) => `SELECT ${table}::text AS row FROM ${table}`);
        const { rows } = await client.query(texts.join(" UNION ALL "));
        return rows.map(({ row }) => row).join("\n");
      }),
  };
}

async function fill(store: Store): Promise<void> {
  const scene = await makeScene(store);
  const { environment } = scene;
  const fetch = sampleStep("fetch", { kind: "fetch", status: "planned", detail: JSON.stringify(REQUEST) });
  await advance(scene, await beginOne(scene), { steps: [fetch], entries: [{ kind: "call", stepId: fetch.id }] });
  const lists = { eventNames: null, ips: null };
  const { key } = adoptKey("signing", SIGNING_KEY);
  await store.keyInsert({
    ...key,
    ...lists,
    kind: "signing",
    name: "k",
    environmentId: null,
    role: null,
    environments: null,
    createdAt: 1,
  });
  await store.webhookInsert({
    id: "wh_1" as WebhookId,
    environmentId: environment.id,
    name: "w",
    token: "token",
    transform: "x",
    enabled: true,
    createdAt: 1,
    ...lists,
    verify: { scheme: "github", toleranceSeconds: 300 },
    handshake: null,
    answer: null,
    mirror: null,
    reconcile: null,
    secrets: { ...NO_SECRETS, verify: [SECRET], reconcile: [SECRET] },
  });
}

async function secretsIn(store: Store): Promise<unknown[]> {
  const [[key], [webhook]] = [await store.keyList(), await store.webhookList()];
  const [environment] = await store.environmentList();
  const { runs } = await store.runList({ environmentId: environment?.id as EnvironmentId, limit: 1 });
  const run = await store.runFind({ id: runs[0]?.id as RunId });
  const asked = run && (await store.stepRequest({ environmentId: run.environmentId, runNo: run.no, stepId: stepId("fetch") }));
  return [key?.secret, webhook?.secrets.verify[0], asked?.request];
}

async function reads(engine: Engine, keys: string[]): Promise<void> {
  const store = await engine.open(keys);
  try {
    assert.deepEqual(await secretsIn(store), SECRETS);
  } finally {
    await store.stop();
  }
}

async function rotates(engine: Engine): Promise<void> {
  const store = await engine.open([OLD]);
  await fill(store);
  await store.stop();
  const before = await engine.texts();
  assert.ok(!before.includes(SECRET) && !before.includes(SIGNING_KEY), "nothing is in the clear");
  await assert.rejects(async () => engine.open([OTHER]), StoreRefused);
  await reads(engine, [NEW, OLD]);
  await reads(engine, [NEW]);
  await assert.rejects(
    async () => engine.open([OLD]),
    (error) => error instanceof StoreRefused && /--encryption-key/.test(error.message),
  );
}

test("SQLite: a key is made beside the store, for its owner alone, and is needed from then on", async (t) => {
  const engine = sqlite(t);
  const store = await engine.open([]);
  await fill(store);
  await store.stop();
  const file = join(engine.folder, "inlet.key");
  assert.equal((statSync(file).mode & 0o777).toString(8), "600");
  const text = readFileSync(file, "utf8");
  await reads(engine, []);
  assert.equal(readFileSync(file, "utf8"), text, "it is made once");
  renameSync(file, `${file}.gone`);
  await assert.rejects(async () => engine.open([]), StoreRefused);
  assert.throws(() => statSync(file), "no other key is made in its place");
  renameSync(`${file}.gone`, file);
  await reads(engine, [NEW]);
  renameSync(file, `${file}.gone`);
  await reads(engine, [NEW]);
});

test("SQLite: keys are rotated by giving the new one before the old one", async (t) => rotates(sqlite(t)));

const skip = whyNoPostgres() ?? false;

test("PostgreSQL: keys are rotated by giving the new one before the old one", { skip }, async (t) => rotates(await postgres(t)));

test("PostgreSQL: without a setting all nodes share one key; with one, that key is used", { skip }, async (t) => {
  const engine = await postgres(t);
  const [first, second] = await Promise.all([engine.open([]), engine.open([])]);
  await fill(first);
  assert.deepEqual(await secretsIn(second), SECRETS);
  await Promise.all([first.stop(), second.stop()]);
  assert.ok(!(await engine.texts()).includes(SECRET));
  await reads(engine, [NEW]);
  await assert.rejects(async () => engine.open([]), StoreRefused);

  const node = await engine.open([NEW]);
  await assert.rejects(
    async () => engine.open([OTHER]),
    (error) => error instanceof StoreRefused && /--encryption-key/.test(error.message),
    "a second node with another key does not start",
  );
  assert.deepEqual(await secretsIn(node), SECRETS, "the first goes on");
  await node.stop();
});
