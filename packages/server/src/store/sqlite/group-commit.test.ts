import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { GroupCommit, type GroupCommitHooks } from "./group-commit.ts";

function open(hooks: Partial<GroupCommitHooks> = {}) {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE rows (n INTEGER UNIQUE)");
  const writer = new GroupCommit(db, {
    onFault: () => undefined,
    onRecovery: () => undefined,
    onCommit: () => undefined,
    beforeCommit: () => undefined,
    onRollback: () => undefined,
    ...hooks,
  });
  const insert = db.prepare("INSERT INTO rows VALUES (?)");
  const count = () => (db.prepare("SELECT count(*) AS n FROM rows").get() as { n: number }).n;
  return { db, writer, insert: (n: number) => writer.submit(() => insert.run(n)), count };
}

test("work submitted together shares one transaction", async () => {
  let commits = 0;
  const { insert, count } = open({ onCommit: () => commits++ });
  await Promise.all(Array.from({ length: 100 }, (_, n) => insert(n)));
  assert.deepEqual([commits, count()], [1, 100]);
});

test("work of the next turn of the event loop shares it too", async () => {
  let commits = 0;
  const { insert } = open({ onCommit: () => commits++ });
  const first = insert(1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(commits, 0);
  await Promise.all([first, insert(2)]);
  assert.equal(commits, 1);
});

test("nothing is answered before its commit", async () => {
  const order: string[] = [];
  const { insert } = open({ onCommit: () => order.push("commit") });
  await Promise.all([1, 2].map((n) => insert(n).then(() => order.push(`answer ${n}`))));
  assert.deepEqual(order, ["commit", "answer 1", "answer 2"]);
});

test("a unit that fails does not fail its neighbours", async () => {
  const { insert, count } = open();
  const outcomes = await Promise.allSettled([insert(1), insert(1), insert(2)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.equal(count(), 2);
});

test("very much work is split into several transactions, in order", async () => {
  let commits = 0;
  const { writer } = open({ onCommit: () => commits++ });
  const done: number[] = [];
  await Promise.all(Array.from({ length: 10 }, (_, n) => writer.submit(() => done.push(n), 1_000)));
  assert.equal(commits, 5);
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a store that may not be written is told apart from a statement that is wrong", async () => {
  const faults: string[] = [];
  const { db, writer, insert, count } = open({ onFault: (reason) => faults.push(reason), onRecovery: () => faults.push("recovered") });
  db.exec("PRAGMA query_only = ON");
  await assert.rejects(insert(1), { name: "StoreUnavailable" });
  await assert.rejects(insert(1), { name: "StoreUnavailable" });
  assert.equal(faults.length, 1, "one line for one trouble");
  assert.match(faults[0] ?? "", /read-only/);
  db.exec("PRAGMA query_only = OFF");
  await insert(1);
  assert.deepEqual(faults.slice(1), ["recovered"]);
  await assert.rejects(
    writer.submit(() => db.exec("nonsense")),
    /syntax error/,
  );
  assert.equal(count(), 1);
});

test("stopping commits what waits and refuses the rest", async () => {
  const { writer, insert, count } = open();
  const waiting = insert(1);
  writer.stop();
  await waiting;
  assert.equal(count(), 1);
  await assert.rejects(insert(2), { name: "StoreUnavailable" });
});
