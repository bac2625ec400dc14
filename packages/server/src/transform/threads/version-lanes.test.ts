/** A version is judged by its runs, and a bad one delays only its own kind. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testRunner } from "./run-for-test.ts";
import { VersionLanes } from "./version-lanes.ts";
import { WaitingWork, type Work } from "./waiting-work.ts";

describe("lanes", () => {
  it("follow the diagram", () => {
    let now = 0;
    const lanes = new VersionLanes({ slowMs: 50, penaltyMs: 1_000, now: () => now });
    assert.equal(lanes.laneOf("a"), "new");
    lanes.note("a", "hook", 1);
    assert.equal(lanes.laneOf("a"), "quick");
    lanes.note("a", "hook", 51);
    assert.equal(lanes.laneOf("a"), "slow");
    now = 900;
    lanes.note("a", "hook", 1);
    assert.equal(lanes.laneOf("a"), "slow");
    now = 1_000;
    assert.equal(lanes.laneOf("a"), "slow", "that the penalty has passed is not enough");
    lanes.note("a", "hook", 1);
    assert.equal(lanes.laneOf("a"), "quick");
    lanes.note("b", "other", 250);
    assert.equal(lanes.laneOf("b"), "slow");
  });

  it("hold repeat offenders for longer, whatever the version, until six hours have passed without", () => {
    let now = 0;
    const lanes = new VersionLanes({ slowMs: 50, penaltyMs: 1_000, now: () => now });
    /** How long a version is held after a slow run. */
    const heldMs = (version: string) => {
      lanes.note(version, "hook", 51);
      const from = now;
      for (const wait of [1_000, 4_000, 16_000, 3_600_000]) {
        now = from + wait;
        lanes.note(version, "hook", 1);
        if (lanes.laneOf(version) === "quick") return wait;
      }
      return Number.POSITIVE_INFINITY;
    };
    assert.deepEqual([heldMs("hook@1"), heldMs("hook@1"), heldMs("hook@2")], [1_000, 4_000, 16_000]);
    for (let n = 0; n < 10; n++) assert.equal(heldMs("hook@2"), 3_600_000, "an hour at most");
    now += 6 * 3_600_000;
    assert.equal(heldMs("hook@2"), 1_000);
  });

  it("are remembered for a bounded number of versions", () => {
    const lanes = new VersionLanes({ slowMs: 50, penaltyMs: 1_000, now: () => 0 });
    for (let i = 0; i <= 5_000; i++) lanes.note(`v${i}`, `v${i}`, 1);
    assert.equal(lanes.laneOf("v0"), "new");
    assert.equal(lanes.laneOf("v1"), "quick");
  });
});

describe("the runner", () => {
  it("runs quick versions while twenty others loop for ever", async (t) => {
    const { runner, run, event } = testRunner({ waitingSlowMax: 100 });
    t.after(() => runner.stop());
    assert.deepEqual(await event("() => ({ quick: 1 })"), { quick: 1 });
    let looping = 20;
    const loops = Array.from({ length: 20 }, async (_, i) => {
      await run(`() => { for (;;); /* ${i} */ }`);
      looping--;
    });
    for (let i = 0; i < 200; i++) assert.deepEqual(await event("() => ({ quick: 1 })"), { quick: 1 });
    // Twenty loops of 250 ms take five seconds; had the quick ones waited behind them, few would be left.
    assert.ok(looping > 10, `${looping} loops left`);
    // A version nobody knows yet waits for the loops before it in its lane, but not for those already known to loop.
    await Promise.all(loops);
  });

  it("serves a victim while sixty webhooks that had been quick loop", async () => {
    const { runner, run, event } = testRunner({ waitingSlowMax: 100 });
    const source = "(evt) => { while (evt.loop); return { quick: 1 }; }";
    const request = (n: number, loop: boolean) => ({
      versionKey: `hook${n}@1`,
      owner: { webhook: `hook${n}`, environment: n < 0 ? "victim" : "attackers" },
      evtJson: JSON.stringify({ loop }),
    });
    for (let n = -1; n < 60; n++) for (let twice = 0; twice < 2; twice++) await event(source, request(n, false));
    let isOver = false;
    let loops = 0;
    const attacks = Array.from({ length: 60 }, async (_, n) => {
      for (; !isOver; loops++) await run(source, request(n, true));
    });
    // Requests come at their own pace, whether or not those before them were answered.
    const served = Array.from({ length: 60 }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, n * 25));
      const before = loops;
      assert.deepEqual(await event(source, request(-1, false)), { quick: 1 });
      return loops - before;
    });
    const waitedFor = (await Promise.all(served)).sort((a, b) => a - b);
    isOver = true;
    await Promise.all([...attacks, runner.stop()]);
    const p50 = waitedFor[30] ?? 0;
    assert.ok(p50 <= 4, `half of the victim's requests waited for more than ${p50} loops to end`);
  });

  it("lets who used little go first, by environment and by webhook", () => {
    const waiting = new WaitingWork({ waitingMax: 100, waitingSlowMax: 10, now: () => 0 });
    const work = (webhook: string, environment: string, id: number) =>
      ({
        job: { id },
        versionKey: `${webhook}@1`,
        owner: { webhook, environment },
        attempts: 0,
        settle: () => undefined,
      }) as unknown as Work;
    waiting.charge({ webhook: "a", environment: "busy" }, 1_000);
    waiting.charge({ webhook: "b", environment: "busy" }, 10);
    waiting.charge({ webhook: "c", environment: "quiet" }, 500);
    const order = [work("a", "busy", 1), work("a", "busy", 2), work("b", "busy", 3), work("c", "quiet", 4), work("d", "unknown", 5)];
    for (const one of order) waiting.add("quick", one);
    assert.deepEqual(
      Array.from({ length: 5 }, () => waiting.take("quick")?.job.id),
      [5, 4, 3, 1, 2],
    );
    assert.equal(waiting.size, 0);
  });

  it("leaves room for others when one webhook has much waiting", () => {
    const waiting = new WaitingWork({ waitingMax: 100, waitingSlowMax: 10, now: () => 0 });
    const owner = (webhook: string) => ({ webhook, environment: "one" });
    const add = (webhook: string) =>
      waiting.add("quick", {
        job: { id: 1 },
        versionKey: "v",
        owner: owner(webhook),
        attempts: 0,
        settle: () => undefined,
      } as unknown as Work);
    for (let n = 0; n < 50; n++) add("greedy");
    assert.deepEqual([waiting.isFull("quick", owner("greedy")), waiting.isFull("quick", owner("other"))], [true, false]);
  });

  it("refuses at once when too many wait", async (t) => {
    const { runner, run } = testRunner({ waitingMax: 3 });
    t.after(() => runner.stop());
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, i) => run(`() => ({ i: ${i} })`)));
    const codes = outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.code));
    assert.deepEqual(codes.filter((code) => code === "ok").length, 4);
    assert.deepEqual(codes.filter((code) => code === "overloaded").length, 4);
  });

  it("refuses slow versions earlier than others", async (t) => {
    const { runner, run, event } = testRunner({ waitingSlowMax: 1 });
    t.after(() => runner.stop());
    const loop = "() => { for (;;); }";
    await run(loop);
    const outcomes = await Promise.all([run(loop), run(loop), run(loop), event("() => ({ a: 1 })")]);
    const codes = outcomes.map((outcome) => ("code" in outcome ? outcome.code : "ok"));
    assert.deepEqual(codes, ["transform_timeout", "transform_timeout", "overloaded", "ok"]);
  });

  it("replaces a stuck thread, and runs what it had not begun elsewhere", async (t) => {
    const { runner, run, event } = testRunner({ slowMs: 1e9 });
    t.after(() => runner.stop());
    const source = `(evt) => {
      console.log("here");
      return { n: evt.stuck ? new Array(2 ** 32 - 1).join().length : 1 };
    }`;
    assert.deepEqual(await event(source), { n: 1 });
    const stuck = run(source, { evtJson: `{"stuck":true}` });
    const behind = Array.from({ length: 5 }, () => event(source));
    const outcome = await stuck;
    assert.equal(outcome.ok ? "" : outcome.code, "transform_timeout");
    assert.deepEqual(outcome.logs, ["here"], "what it wrote is not lost with the thread");
    for (const after of behind) assert.deepEqual(await after, { n: 1 });
  });
});
