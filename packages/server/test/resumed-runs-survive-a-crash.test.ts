/**
 * One event ends the waits of many runs, part by part. Between two parts, other events are accepted and their runs end; then the service is
 * killed. Afterwards every run is resumed, and none twice.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { WAITS_PER_PART_MAX } from "../src/store/resumptions/contract.ts";
import { type StoreKind, test } from "./support/both-stores.ts";
import { type CuttingProxy, cuttingProxy } from "./support/cutting-proxy.ts";
import { type OneRun, startOneRun } from "./support/one-run.ts";
import { until } from "./support/runs.ts";
import { call } from "./support/service.ts";

/** After the first part, more is left than fits into the second. */
const RUNS = 2 * WAITS_PER_PART_MAX + 10;
const BATCH = RUNS / 2;
const OTHERS = 5;
/** Calls of the first part that are under way when the service is killed. */
const UNANSWERED = 10;
/** For a lock of the embedded store. */
const DEADLINE_MS = 300_000;

/** Lets the first part pass and fails the second, which the service tries again and again. */
const REFUSE_SECOND_PART = ["UPDATE", "DELETE"].map(
  (change) => `
    CREATE TRIGGER no_${change} BEFORE ${change} ON resumptions WHEN OLD.after_wait_no > 0
    BEGIN SELECT RAISE(ABORT, 'not now'); END;`,
);
const ALLOW_SECOND_PART = "DROP TRIGGER no_UPDATE; DROP TRIGGER no_DELETE;";

interface Scene extends OneRun {
  proxy: CuttingProxy | null;
}

interface Answers {
  /** What the app tells a run that begins. */
  begun: "wait" | "end";
  /** Calls that continue after the wait and were answered, by run. */
  resumed: Map<string, number>;
  /** How many such calls get no answer before one does. */
  unanswered: number;
}

test("crash point: an event has ended the waits of some runs, and others still wait for it", async (t, store) => {
  let proxy: CuttingProxy | null = null;
  const reachDatabase = async (url: string) => {
    proxy = await cuttingProxy(t, url);
    return proxy.url;
  };
  const scene: Scene = Object.assign(await startOneRun(t, { reachDatabase, lease: "10m" }), { proxy });
  const answers: Answers = { begun: "wait", resumed: new Map(), unanswered: UNANSWERED };
  answerAll(scene, answers);
  await beginAll(scene);
  answers.begun = "end";
  await BETWEEN_PARTS[store](scene, async () => {
    const ended = WAITS_PER_PART_MAX - UNANSWERED + OTHERS;
    await send(scene, Array(OTHERS).fill({ name: "bare/begin", data: {} }));
    await until("the end of others, and of runs of the first part", async () => (await count(scene, "completed")) >= ended || undefined);
    assert.equal(answers.unanswered, 0);
    await scene.kill();
  });
  await scene.restart();
  await until("all runs have ended", async () => (await hasNone(scene, "waiting", "queued", "running")) || undefined);
  assert.equal(answers.resumed.size, RUNS, "every run is resumed");
  assert.deepEqual([...new Set(answers.resumed.values())], [1], "and none twice");
  assert.equal(await count(scene, "completed"), RUNS + OTHERS);
});

/** Sends the event, and does this once a part is committed, while no other part is. */
const BETWEEN_PARTS: Record<StoreKind, (scene: Scene, work: () => Promise<void>) => Promise<void>> = {
  async sqlite(scene, work) {
    const db = new DatabaseSync(join(scene.dataDir, "inlet.db"), { timeout: DEADLINE_MS });
    for (const trigger of REFUSE_SECOND_PART) db.exec(trigger);
    const look = db.prepare("SELECT after_wait_no FROM resumptions");
    await send(scene, [{ name: "bare/go", data: {} }]);
    await until("a part is committed", () => (Number(look.get()?.after_wait_no) > 0 ? true : undefined));
    await work();
    assert.ok(Number(look.get()?.after_wait_no) > 0, "others are left");
    db.exec(ALLOW_SECOND_PART);
    db.close();
  },
  async postgres(scene, work) {
    const held = scene.proxy?.hold({ statement: /^COMMIT/, following: /UPDATE resumptions SET after_wait_no/, when: "after" });
    await send(scene, [{ name: "bare/go", data: {} }]);
    await held;
    await work();
  },
};

function answerAll({ app }: Scene, answers: Answers): void {
  const answer = async () => {
    for (;;) {
      const asked = await app.next();
      if (asked.done.includes("go")) {
        if (answers.unanswered > 0) answers.unanswered--;
        else {
          answers.resumed.set(asked.runId, (answers.resumed.get(asked.runId) ?? 0) + 1);
          void asked.finish("done");
        }
      } else if (answers.begun === "wait") void asked.asks("WaitForEvent", "go", { event: "bare/go", timeout: "1h" });
      else void asked.finish("other");
    }
  };
  // It fails once no call has come for some time.
  void answer().catch(() => undefined);
}

async function beginAll(scene: Scene): Promise<void> {
  for (let sent = 0; sent < RUNS; sent += BATCH) await send(scene, Array(BATCH).fill({ name: "bare/begin", data: {} }));
  await until("all runs wait", async () => (await hasNone(scene, "queued", "running")) || undefined);
  assert.equal(await count(scene, "waiting"), RUNS);
}

async function send({ inlet }: Scene, events: object[]): Promise<void> {
  const { status, text } = await call(`${inlet.url}/e/key`, { method: "POST", body: JSON.stringify(events) });
  assert.equal(status, 200, text);
}

/** Asked for in this order, in which runs go through them: none is missed between two. */
async function hasNone(scene: Scene, ...statuses: string[]): Promise<boolean> {
  for (const status of statuses) if ((await page(scene, `status=${status}&limit=1`)).data.length > 0) return false;
  return true;
}

async function count(scene: Scene, status: string): Promise<number> {
  let found = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data, page: shown } = await page(scene, `status=${status}&limit=100${cursor && `&cursor=${cursor}`}`);
    found += data.length;
    cursor = shown.next;
  }
  return found;
}

/** Asks again while the store is too busy to answer, as a client does. */
async function page({ inlet }: Scene, query: string): Promise<{ data: unknown[]; page: { next: string | null } }> {
  return until("a page", async () => {
    const { status, body } = await call(`${inlet.url}/v1/runs?${query}`);
    return status === 200 ? body : undefined;
  });
}
