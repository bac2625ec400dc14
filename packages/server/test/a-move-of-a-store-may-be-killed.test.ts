/** `inlet migrate-store` may be killed at any point and started again: it ends complete, with nothing twice, and until then no node works on it. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { StoreRefused } from "../src/store/contract/index.ts";
import { COPIED_TABLES } from "../src/store/copy/copied-tables.ts";
import { copyStore } from "../src/store/copy/copy-store.ts";
import { MOVED_FILE } from "../src/store/sqlite/folder/moved-folder.ts";
import { type Cut, cuttingProxy } from "./support/cutting-proxy.ts";
import { freshDatabase, inDatabase, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { spawnInlet } from "./support/process.ts";
import { startTestService, temporaryFolder } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const hooks = { onFault: () => undefined, onRecovery: () => undefined };
const NO_PROGRESS = { onProgress: () => undefined };
const LAST_TABLE = COPIED_TABLES.at(-1)?.name;
/** More than four times what is copied in one transaction. */
const BATCHES = 9;
/** At each, the process has a connection without a response, and is killed. */
const POINTS: readonly [name: string, Cut][] = [
  ["the folder is closed", { statement: /INSERT INTO store_copy VALUES/, when: "before" }],
  ["events have begun", committed(/INSERT INTO events /)],
  ["events are half there", committed(/INSERT INTO store_copy_tables[\s\S]*events[\s\S]*\b4000\b/)],
  ["dedup keys have begun", committed(/INSERT INTO dedup_keys /)],
  ["every table is there", committed(new RegExp(`INSERT INTO store_copy_tables[\\s\\S]*${LAST_TABLE}[\\s\\S]*true`))],
];

function committed(following: RegExp): Cut {
  return { statement: /^COMMIT/, when: "after", following };
}

test("killed at each point and started again it ends complete, with nothing twice; until then no node works on it", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await freshDatabase(t);
  const service = await startTestService(t, { dataDir });
  for (let batch = 0; batch < BATCHES; batch++) {
    const events = Array.from({ length: 1_000 }, (_, n) => ({ name: `shop/${n % 7}`, id: `${batch}-${n}`, data: { batch, n } }));
    assert.equal((await service.send(events)).status, 200);
  }
  await service.stop();

  const proxy = await cuttingProxy(t, databaseUrl);
  for (const [point, cut] of POINTS) {
    const isReached = proxy.hold(cut);
    const copying = spawnInlet(t, ["migrate-store", "--from", dataDir, "--to", proxy.url]);
    await isReached.catch((error) => assert.fail(`${point}: ${error.message}\n${copying.stderr()}`));
    await copying.end("SIGKILL");
    proxy.endAll();
    assert.ok(existsSync(join(dataDir, MOVED_FILE)), "the folder is closed");
    assert.equal(await isFinished(databaseUrl), false, point);
    await refusesNodes(databaseUrl);
  }
  const { isResumed } = await copyStore({ folder: dataDir, url: proxy.url, ...NO_PROGRESS });
  assert.equal(isResumed, true);

  const db = new DatabaseSync(join(dataDir, "inlet.db"), { readOnly: true });
  t.after(() => db.close());
  for (const { name, columns } of COPIED_TABLES.filter(({ convert }) => !convert)) {
    const source = db
      .prepare(`SELECT ${Object.values(columns).join(", ")} FROM ${name}`)
      .all()
      .map((row) => JSON.stringify(Object.values(row)));
    const { rows } = await inDatabase(databaseUrl, (client) => client.query(`SELECT ${Object.keys(columns).join(", ")} FROM ${name}`));
    const target = rows.map((row) => JSON.stringify(Object.keys(columns).map((column) => numeric(row[column]))));
    assert.deepEqual(target.sort(), source.map((row) => JSON.stringify(JSON.parse(row).map(numeric))).sort(), name);
  }
  const moved = await startTestService(t, { databaseUrl });
  assert.equal((await moved.send({ name: "shop/1", id: "8-999", data: {} })).status, 200);
  assert.equal((await moved.rest("GET", "/events?limit=1")).body.data[0].dedupId, "8-999", "it was a duplicate, and not stored");
});

/** bigint comes as text from a bare client; both sides are compared as text. */
function numeric(value: unknown): unknown {
  return typeof value === "number" ? String(value) : value;
}

async function isFinished(url: string): Promise<boolean> {
  const { rows } = await inDatabase(url, (client) => client.query("SELECT finished_at FROM store_copy").catch(() => ({ rows: [] })));
  return rows[0]?.finished_at != null;
}

async function refusesNodes(url: string): Promise<void> {
  const hasBegun = await inDatabase(url, async (client) => (await client.query("SELECT 1 FROM store_copy")).rowCount === 1);
  if (!hasBegun) return;
  await assert.rejects(openPatientStore({ url, ...hooks }), (error) => error instanceof StoreRefused && /not complete/.test(error.message));
}
