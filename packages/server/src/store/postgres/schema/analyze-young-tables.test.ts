import assert from "node:assert/strict";
import { test } from "node:test";
import { inDatabase, migratedDatabase, whyNoPostgres } from "../../../../test/support/postgres.ts";
import { PostgresDatabase } from "../database.ts";
import { analyzeYoungTables } from "./analyze-young-tables.ts";

const skip = whyNoPostgres() ?? false;

test("a table that was never looked at gets its statistics once there is something in it", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  const database = new PostgresDatabase({ url, connectionsMax: 2, listenUrl: null, onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => database.stop());
  assert.deepEqual(await analyzeYoungTables(database), [], "all are empty");
  await inDatabase(url, (client) =>
    client.query(
      `INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, source_no, data)
       SELECT n, 1, lpad(n::text, 26, '0'), 1, 1, n, 1, '{}' FROM generate_series(1, 5000) AS n`,
    ),
  );
  const both = await Promise.all([analyzeYoungTables(database), analyzeYoungTables(database)]);
  assert.deepEqual(both.flat(), ["events_before"], "one of two that come at once does it");
  assert.deepEqual(await analyzeYoungTables(database), []);
  const { rows } = await inDatabase(url, (client) =>
    client.query("SELECT n_distinct FROM pg_stats WHERE tablename = 'events_before' AND attname = 'environment_id'"),
  );
  assert.deepEqual(rows, [{ n_distinct: 1 }]);
});
