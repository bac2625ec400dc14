import assert from "node:assert/strict";
import { test } from "node:test";
import { ArchiveLease, ArchiveLost, type CheckLease } from "./archive-lease.ts";

const RENEWED_MS = 20_000;
const LEASE_MS = 60_000;

test("the lease on the archive is renewed while a file is written; once it has lapsed, it is not taken again for the same file", async (t) => {
  let now = 0;
  t.mock.timers.enable({ apis: ["setInterval"] });
  const store = { storeNode: "one", leadershipTake: async () => true, leadershipResign: async () => undefined };
  const lease = new ArchiveLease({ store, now: () => now });
  const passes = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(RENEWED_MS);
    await new Promise(setImmediate);
  };
  const writing = async (check: CheckLease, afterMs: number) => {
    for (let renewals = 0; renewals < 4; renewals++) await passes(RENEWED_MS);
    check();
    await passes(afterMs);
    check();
    return "written";
  };
  assert.equal(await lease.run((check) => writing(check, RENEWED_MS)), "written");
  // Another node may have had it in between.
  await assert.rejects(
    lease.run((check) => writing(check, LEASE_MS)),
    ArchiveLost,
  );
});
