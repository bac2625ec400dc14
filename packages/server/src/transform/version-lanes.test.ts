/** A version is judged by its runs, and a bad one delays only its own kind. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testRunner } from "./run-for-test.ts";
import { VersionLanes } from "./version-lanes.ts";

describe("lanes", () => {
  it("follow the diagram", () => {
    let now = 0;
    const lanes = new VersionLanes({ slowMs: 50, penaltyMs: 1_000, now: () => now });
    assert.equal(lanes.laneOf("a"), "new");
    lanes.note("a", 1);
    assert.equal(lanes.laneOf("a"), "quick");
    lanes.note("a", 51);
    assert.equal(lanes.laneOf("a"), "slow");
    now = 900;
    lanes.note("a", 1);
    assert.equal(lanes.laneOf("a"), "slow");
    now = 1_000;
    assert.equal(lanes.laneOf("a"), "quick");
    lanes.note("b", 250);
    assert.equal(lanes.laneOf("b"), "slow");
  });

  it("are remembered for a bounded number of versions", () => {
    const lanes = new VersionLanes({ slowMs: 50, penaltyMs: 1_000, now: () => 0 });
    for (let i = 0; i <= 5_000; i++) lanes.note(`v${i}`, 1);
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
