import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { createSweepLeadership } from "../src/maintenance/sweep-leadership.ts";
import { Sweeper, type SweepLeadership } from "../src/maintenance/sweeper.ts";
import type { Store } from "../src/store/contract/index.ts";
import { openPostgresStore } from "../src/store/postgres/postgres-store.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const log = pino({ level: "silent" });

test("of the nodes that share a store one sweeps; another when that one has stopped, or has not come by", { skip }, async (t) => {
  const url = await freshDatabase(t);
  const open = () => openPostgresStore({ url, onFault: () => undefined, onRecovery: () => undefined });
  const [first, second] = [await open(), await open()];
  t.after(() => Promise.all([first.stop(), second.stop()]));
  const swept: string[] = [];
  const sweeperOf = (store: Store, name: string) =>
    new Sweeper({
      ...{ what: "things", log, everyMs: 200, leadership: createSweepLeadership(store, () => store.storeNow()) },
      async removeSome() {
        swept.push(name);
        return 0;
      },
    });
  const [one, other] = [sweeperOf(first, "one"), sweeperOf(second, "other")];
  one.start();
  while (swept.length === 0) await sleep(10);
  other.start();
  while (swept.length < 5) await sleep(10);
  assert.deepEqual(new Set(swept), new Set(["one"]));
  await one.stop();
  while (!swept.includes("other")) await sleep(10);
  await other.stop();
  const [gone, there] = [first, second].map((store) => createSweepLeadership(store, () => store.storeNow())) as [
    SweepLeadership,
    SweepLeadership,
  ];
  assert.deepEqual([await gone.take("things", 300), await there.take("things", 300), await there.take("others", 300)], [true, false, true]);
  await sleep(310);
  assert.equal(await there.take("things", 300), true);
});
