/** Statements that change a limited number of rows keep to it in any plan: in some, PostgreSQL runs a subquery again for every row. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "../../../test/support/postgres.ts";
import { HELD_UNTIL, type Store } from "../contract/index.ts";

const skip = whyNoPostgres() ?? false;
/** Leaves the plan that runs a subquery for every row, which PostgreSQL chooses by itself for few rows. */
const ROW_BY_ROW = ["hashjoin", "mergejoin", "hashagg", "sort", "material"].map((plan) => `-c enable_${plan}=off`);

const THREE_OF_EACH = `
  INSERT INTO activity_hours SELECT 1, 'key', n, '', 1, n FROM generate_series(1, 3) AS n;
  INSERT INTO usage_hours SELECT 1, 'key', n, '', 0, 1, 1, 1, 1, 1, 1, 1 FROM generate_series(1, 3) AS n;
  INSERT INTO traffic_minutes SELECT 1, n, 0, 1, 1, 1, 1, 1, 1 FROM generate_series(1, 3) AS n;
  INSERT INTO sessions SELECT n, n, NULL, 1, 1, n, '' FROM generate_series(1, 3) AS n;
  INSERT INTO event_type_hours SELECT 1, 1, n, 1 FROM generate_series(1, 3) AS n;
  INSERT INTO dedup_keys SELECT 1, n, '', n FROM generate_series(1, 3) AS n;
  INSERT INTO idempotency_keys SELECT '', n, '', n FROM generate_series(1, 3) AS n;
  INSERT INTO queue (environment_id, entry_no, lane, home_lane, rank, home_rank, due_at, kind, function_no)
  SELECT 1, n, 'timers', 'app:1', ${HELD_UNTIL}, 1, ${HELD_UNTIL}, 'call', 1 FROM generate_series(1, 3) AS n`;

const LATER = 86_400_000;
const TWO_OF_EACH: Record<string, (store: Store) => Promise<number>> = {
  activity: (store) => store.activityExpireMany({ until: LATER, limit: 2 }),
  usage: (store) => store.usageExpireMany({ until: LATER, limit: 2 }),
  traffic: (store) => store.trafficExpireMany({ minutesUntil: LATER, hoursUntil: LATER, limit: 2 }),
  sessions: (store) => store.sessionExpireMany({ expiredUntil: LATER, limit: 2 }),
  "event types": (store) => store.eventTypeHourExpireMany({ endedUntil: LATER, limit: 2 }),
  "dedup keys": (store) => store.dedupKeyExpireMany({ seenUntil: LATER, limit: 2 }),
  "idempotency keys": (store) => store.idempotencyExpireMany({ startedUntil: LATER, limit: 2 }),
  "held calls": (store) => store.queueUnhold({ now: LATER, limit: 2 }),
};

test("postgres: what is changed some rows at a time is never more of them", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  const planned = new URL(url);
  planned.searchParams.set("options", ROW_BY_ROW.join(" "));
  const store = await openPatientStore({ url: planned.href });
  t.after(() => store.stop());
  await inDatabase(url, (client) => client.query(THREE_OF_EACH));
  for (const [name, change] of Object.entries(TWO_OF_EACH)) {
    assert.deepEqual([await change(store), await change(store)], [2, 1], name);
  }
});
