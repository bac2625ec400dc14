/** Runs that wait for something when their environment moves: each goes on in its new place, once. */

import assert from "node:assert/strict";
import { until } from "../runs.ts";
import type { Case } from "./scene.ts";

const HOUR_MS = 3_600_000;

export const RUN_CASES: Readonly<Record<string, Case>> = {
  "a batch that is being gathered gets its last event": async ({ send, runs }) => {
    for (const n of [1, 2]) await send("shop/batched", { n });
    return async () => {
      await send("shop/batched", { n: 3 });
      assert.deepEqual((await runs("batched", 1))[0]?.output, [1, 2, 3]);
    };
  },
  "a debounce starts one run, with the last event": async ({ send, runs, settled, makeDue }) => {
    await send("shop/debounced", { n: 1 });
    return async () => {
      await send("shop/debounced", { n: 2 });
      await settled("debounced");
      await makeDue("debounced");
      assert.equal((await runs("debounced", 1))[0]?.output, 2);
    };
  },
  "a schedule has its next run, once": async ({ runs, makeDue, ran }) => {
    assert.deepEqual(await runs("yearly", 0), []);
    return async () => {
      await makeDue("yearly");
      await runs("yearly", 1);
      assert.equal(ran.get("yearly"), 1);
    };
  },
  "an event of the future starts its run then": async ({ send, runs, makeDue }) => {
    await send("shop/later", { n: 1 }, { ts: Date.now() + HOUR_MS });
    return async () => {
      await makeDue("later");
      assert.equal((await runs("later", 1))[0]?.output, 1);
    };
  },
  "a paused function stays paused, and then catches up": async ({ send, runs, rest }) => {
    await rest("POST", "/functions/shop-paused/pause");
    await send("shop/paused", { n: 1 });
    return async () => {
      await send("shop/paused", { n: 2 });
      await runs("paused", 2, ({ status }) => status === "queued");
      await rest("POST", "/functions/shop-paused/resume");
      assert.deepEqual((await runs("paused", 2)).map(({ output }) => output).sort(), [1, 2]);
    };
  },
  "a key on hold stays so until it is released": async ({ send, runs, rest, ran }) => {
    await send("shop/held", { customer: "ada", fails: true });
    await runs("held", 1);
    await send("shop/held", { customer: "ada" });
    await runs("held", 2, () => true);
    return async () => {
      const [hold, ...others] = (await rest("GET", "/holds")).body.data;
      assert.deepEqual([hold.waiting, others, ran.get("held")], [1, [], undefined]);
      await rest("POST", `/holds/${hold.id}/release`);
      assert.deepEqual((await runs("held", 2)).map(({ status }) => status).sort(), ["completed", "failed"]);
    };
  },
  "a throttle admits no more than before": async ({ send, runs, ran }) => {
    await send("shop/throttled", { n: 1 });
    await runs("throttled", 1);
    await send("shop/throttled", { n: 2 });
    return async () => {
      await send("shop/throttled", { n: 3 });
      const statuses = await runs("throttled", 3, () => true);
      assert.deepEqual(statuses.map(({ status }) => status).sort(), ["completed", "queued", "queued"]);
      assert.equal(ran.get("throttled 2"), undefined);
    };
  },
  "a rate limit, and a key of idempotency of a function, refuse what they would have refused": async ({ send, runs, settled }) => {
    await send("shop/rare", { n: 1 });
    await send("shop/once", { n: 1, order: "a" });
    await Promise.all([runs("rare", 1), runs("once", 1)]);
    return async () => {
      await send("shop/rare", { n: 2 });
      await send("shop/once", { n: 2, order: "a" });
      await send("shop/once", { n: 3, order: "b" });
      assert.deepEqual((await runs("once", 2)).map(({ output }) => output).sort(), [1, 3]);
      await settled("rare");
      await runs("rare", 1);
    };
  },
  "a sleeping run wakes, and a singleton skips what comes meanwhile": async ({ send, runs, settled, rest, ran }) => {
    await send("shop/asleep", { n: 1 });
    const [run] = await runs("asleep", 1, ({ status }) => status === "sleeping");
    const rested = run?.steps?.find(({ name }) => name === "rest");
    return async () => {
      await send("shop/asleep", { n: 2 });
      await settled("asleep");
      await rest("POST", `/runs/${run?.id}/steps/${rested.id}/wake`);
      await runs("asleep", 1);
      assert.deepEqual([ran.get("before 1"), ran.get("after 1"), ran.get("before 2")], [1, 1, undefined]);
    };
  },
  "a run that waits for an event gets it, and then an approval": async ({ send, runs, rest }) => {
    await send("shop/waiting", { n: 7 });
    await runs("waiting", 1, ({ status }) => status === "waiting");
    return async () => {
      await send("shop/paid", { n: 8 });
      await send("shop/paid", { n: 7 });
      const id = await until("the approval", async () => (await rest("GET", "/approvals?status=open")).body.data[0]?.id);
      await rest("POST", `/approvals/${id}`, { body: { decision: "approved" } });
      assert.deepEqual((await runs("waiting", 1))[0]?.output, [7, "approved"]);
    };
  },
  "a call in progress ends in the new place, and its slot goes to the next": async ({ send, runs, ran, release }) => {
    await send("shop/called", { n: 1 });
    await runs("called", 1, () => ran.has("called 1"));
    await send("shop/called", { n: 2 });
    await runs("called", 2, () => true);
    return async () => {
      assert.equal(ran.get("called 2"), undefined, "the slot is taken");
      release();
      assert.deepEqual((await runs("called", 2)).map(({ output }) => output).sort(), [1, 2]);
      assert.deepEqual([ran.get("called 1"), ran.get("called 2")], [1, 1]);
    };
  },
};
