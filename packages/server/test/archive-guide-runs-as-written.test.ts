/** docs/how-to/archive.md: its queries are run by DuckDB on an archive that the service wrote. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { advance, beginOne, doneStep, makeScene, sampleEnd } from "../src/store/conformance/run-samples.ts";
import { appendAt, archiveAll, archiveFolder, archiveOf, openArchivedStore } from "./support/archive-scene.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const guide = readFileSync(new URL("../../../docs/how-to/archive.md", import.meta.url), "utf8");
const queries = [...guide.matchAll(/```sql\n(.*?)```/gs)].map(([, query = ""]) => query);

test("the queries of the guide run, and find what is in the archive", { skip: whyNoPostgres() ?? false }, async (t) => {
  const folder = await archiveFolder(t);
  const store = await openArchivedStore(t, await migratedDatabase(t));
  const scene = await makeScene(store);
  const paid = (n: number) => ({ name: "shop/order.paid", data: `{"order":"o-${n}","amount":1234567890.10}` });
  const begun = await beginOne(scene, {}, paid(0));
  await advance(scene, begun, { steps: [doneStep("a")], end: sampleEnd() });
  await appendAt(store, scene.environment, Date.UTC(2026, 0, 15), [paid(1), paid(2), { name: "shop/other" }]);
  await archiveAll(store, archiveOf(store, folder));

  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const run = async (query: string) => {
    const reader = await connection.runAndReadAll(query.replaceAll("'production/", `'${folder}/production/`));
    return reader.getRowObjectsJson();
  };
  const [names, payloads, steps, ...others] = await Promise.all(queries.map(run));
  assert.deepEqual(others, []);
  assert.deepEqual(names, [
    { name: "shop/order.paid", events: "2" },
    { name: "shop/other", events: "1" },
  ]);
  assert.deepEqual(
    payloads?.map(({ order, amount }) => [order, amount]),
    [0, 1, 2].map((n) => [`o-${n}`, "1234567890.10"]),
  );
  assert.deepEqual(
    steps?.map((row) => [row.run_id, row.function_id, row.status, row.event, row.step, row.value]),
    [[begun.run.id, "shop-ship", "completed", "shop/order.paid", "a", '{"data":"a"}']],
  );
  connection.closeSync();
  instance.closeSync();
});
