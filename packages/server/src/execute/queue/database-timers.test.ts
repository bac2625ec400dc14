import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseId } from "@inlet/protocol";
import type { ClaimedEntry, Store, StoreDatabase } from "../../store/contract/index.ts";
import { DatabaseTimers } from "./database-timers.ts";

/** A database whose entries are due at once; one that is silent never answers. */
function database(no: number, isSilent = false) {
  const due: number[] = [];
  const claim = async () => ({ claimed: due.splice(0).map((dueAt) => ({ dueAt }) as ClaimedEntry), more: false, fullLimits: [] });
  const answer = <Answer>(give: () => Promise<Answer>) => (isSilent ? new Promise<Answer>(() => undefined) : give());
  const store = { queueClaimMany: () => answer(claim), queueNextDue: () => answer(async () => null) } as unknown as Store;
  return { no, name: `database ${no}`, isReachable: true, store, due };
}

test("a database that is added later, and stays silent, delays no timer of the others", async () => {
  const [first, second] = [database(0), database(1, true)];
  const databases: StoreDatabase[] = [first];
  // As the store over several databases does.
  const all = (name: "queueClaimMany" | "queueNextDue") => () =>
    Promise.all(databases.map((one) => (one.store[name] as () => Promise<unknown>)())).then(([answer]) => answer);
  const store = { storeDatabases: () => databases, queueClaimMany: all("queueClaimMany"), queueNextDue: all("queueNextDue") };
  const worked: number[] = [];
  const alarms = new Set<() => void>();
  const timers = new DatabaseTimers({
    store: store as unknown as Store,
    lease: () => ({ node: "node", until: 0, newId: () => "lease" as LeaseId, roomIn: () => 0 }),
    work: async (entries) => void worked.push(...entries.map(({ dueAt }) => dueAt)),
    clock: {
      now: () => 0,
      after: (_, work) => {
        alarms.add(work);
        return () => alarms.delete(work);
      },
    },
  });
  const ring = async () => {
    for (const work of [...alarms]) {
      alarms.delete(work);
      work();
    }
    await new Promise(setImmediate);
  };
  timers.start();
  await ring();
  databases.push(second);
  timers.wakeBy(0, 1);
  await ring();
  first.due.push(-7);
  timers.wakeBy(-7, 0);
  await ring();
  assert.deepEqual(worked, [-7]);
});
