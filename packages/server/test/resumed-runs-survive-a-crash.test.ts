/**
 * One event ends the waits of many runs, part by part, and the service is killed between two parts: afterwards, every run is resumed,
 * and none twice.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type StoreKind, test } from "./support/both-stores.ts";
import { type CuttingProxy, cuttingProxy } from "./support/cutting-proxy.ts";
import { type OneRun, startOneRun } from "./support/one-run.ts";
import { until } from "./support/runs.ts";
import { call } from "./support/service.ts";

const RUNS = 1_000;
const BATCH = 200;
const ROUNDS_MAX = 10;
const DEADLINE_MS = 300_000;

interface Scene extends OneRun {
  proxy: CuttingProxy | null;
}

/** Calls that continue after the wait, by run. Those of a service that is about to be killed are not answered. */
interface Resumed {
  calls: Map<string, number>;
  isAnswered: boolean;
}

test("crash point: an event has ended the waits of some runs, and others still wait for it", async (t, store) => {
  let proxy: CuttingProxy | null = null;
  const reachDatabase = async (url: string) => {
    proxy = await cuttingProxy(t, url);
    return proxy.url;
  };
  const scene: Scene = Object.assign(await startOneRun(t, { reachDatabase }), { proxy });
  for (let round = 1; ; round++) {
    const resumed: Resumed = { calls: new Map(), isAnswered: false };
    const answering = answerAll(scene, resumed);
    await beginAll(scene);
    const wasBetween = await KILL_BETWEEN_PARTS[store](scene);
    resumed.calls.clear();
    resumed.isAnswered = true;
    await scene.restart();
    await until("all runs have ended", async () =>
      (await count(scene, "waiting")) + (await count(scene, "running")) === 0 ? true : undefined,
    );
    assert.equal(resumed.calls.size, RUNS, "every run is resumed");
    assert.deepEqual([...new Set(resumed.calls.values())], [1], "and none twice");
    assert.equal(await count(scene, "completed"), round * RUNS);
    answering.stop();
    if (wasBetween) return;
    assert.ok(round < ROUNDS_MAX, "it was killed in the middle");
  }
});

/** Sends the event, kills the service when a part is committed, and returns whether waits were left. */
const KILL_BETWEEN_PARTS: Record<StoreKind, (scene: Scene) => Promise<boolean>> = {
  async sqlite(scene) {
    const db = new DatabaseSync(join(scene.dataDir, "inlet.db"), { readOnly: true });
    const look = db.prepare("SELECT after_wait_no FROM resumptions");
    await send(scene, [{ name: "bare/go", data: {} }]);
    const deadline = Date.now() + DEADLINE_MS;
    for (let row = look.get(); row && row.after_wait_no === 0; row = look.get()) assert.ok(Date.now() < deadline, "a part is committed");
    await scene.kill();
    const isLeft = look.get() !== undefined;
    db.close();
    return isLeft;
  },
  async postgres(scene) {
    const held = scene.proxy?.hold({ statement: /^COMMIT/, following: /UPDATE resumptions SET after_wait_no/, when: "after" });
    await send(scene, [{ name: "bare/go", data: {} }]);
    await held;
    await scene.kill();
    return true;
  },
};

function answerAll({ app }: Scene, resumed: Resumed): { stop(): void } {
  let isStopped = false;
  const answer = async () => {
    while (!isStopped) {
      const asked = await app.next();
      if (!asked.done.includes("go")) void asked.asks("WaitForEvent", "go", { event: "bare/go", timeout: "1h" });
      else {
        resumed.calls.set(asked.runId, (resumed.calls.get(asked.runId) ?? 0) + 1);
        if (resumed.isAnswered) void asked.finish("done");
      }
    }
  };
  // It fails once no call has come for some time.
  void answer().catch(() => undefined);
  return {
    stop() {
      isStopped = true;
    },
  };
}

async function beginAll(scene: Scene): Promise<void> {
  for (let sent = 0; sent < RUNS; sent += BATCH) await send(scene, Array(BATCH).fill({ name: "bare/begin", data: {} }));
  await until("all runs wait", async () => ((await count(scene, "waiting")) === RUNS ? true : undefined));
}

async function send({ inlet }: Scene, events: object[]): Promise<void> {
  const { status, text } = await call(`${inlet.url}/e/key`, { method: "POST", body: JSON.stringify(events) });
  assert.equal(status, 200, text);
}

async function count({ inlet }: Scene, status: string): Promise<number> {
  let found = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path = `/v1/runs?status=${status}&limit=100${cursor && `&cursor=${cursor}`}`;
    // Asks again while the store is too busy to answer, as a client does.
    const page = await until("a page", async () => {
      const answer = await call(`${inlet.url}${path}`);
      return answer.status === 200 ? answer.body : undefined;
    });
    found += page.data.length;
    cursor = page.page.next;
  }
  return found;
}
