import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { createSweepLeadership } from "../src/maintenance/sweep-leadership.ts";
import { Sweeper, type SweepLeadership } from "../src/maintenance/sweeper.ts";
import type { Store } from "../src/store/contract/index.ts";
import { migratedDatabase, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";

const skip = whyNoPostgres() ?? false;
const log = pino({ level: "silent" });

test("of the nodes that share a store one sweeps; another when that one has stopped, or has not come by", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  const open = () => openPatientStore({ url });
  const [first, second] = [await open(), await open()];
  t.after(() => Promise.all([first.stop(), second.stop()]));
  // Held: no leadership expires because the machine is busy.
  let now = first.storeNow();
  const leadershipOf = (store: Store) => createSweepLeadership(store, () => now);
  const swept: string[] = [];
  const refused: string[] = [];
  const sweeperOf = (store: Store, name: string) => {
    const leadership = leadershipOf(store);
    const watched: SweepLeadership = {
      ...leadership,
      async take(what, forMs) {
        const until = await leadership.take(what, forMs);
        if (until === null) refused.push(name);
        return until;
      },
    };
    const removeSome = async () => {
      swept.push(name);
      return 0;
    };
    return new Sweeper({ what: "things", log, everyMs: 10, leadership: watched, removeSome });
  };
  const [one, other] = [sweeperOf(first, "one"), sweeperOf(second, "other")];
  one.start();
  await until("the first sweep", () => swept.length > 0 || undefined);
  other.start();
  await until("refusals", () => refused.length >= 5 || undefined);
  assert.deepEqual([new Set(swept), new Set(refused)], [new Set(["one"]), new Set(["other"])]);
  await one.stop();
  await until("a sweep of the other", () => swept.includes("other") || undefined);
  await other.stop();
  const [gone, there] = [leadershipOf(first), leadershipOf(second)];
  const [things, others] = ["things", "others"];
  const until300 = now + 300;
  assert.deepEqual(
    [await gone.take(things, 300), await there.take(things, 300), await there.take(others, 300)],
    [until300, null, until300],
  );
  now += 301;
  assert.equal(await there.take("things", 300), now + 300);
});
