/** A version is classified by its last run, and a bad one delays only its own kind. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type TestRunner, testRunner } from "./run-for-test.ts";
import { VersionSpeeds } from "./version-speeds.ts";
import { WaitingWork, type Work } from "./waiting-work.ts";

/** Far more CPU time than a quick run has on any machine. A loop without end would take the whole limit, which is long so that it hits no quick run. */
const LONG = 4_000_000;
const SHORT = 100_000;
/** Every run takes more time than this. */
const ALWAYS_SLOW = -1;
/** No run takes more time than this. */
const NEVER_SLOW = 1e9;
const LOOPING = "(evt) => { for (let n = evt.loop; n > 0; n--); return { quick: 1 }; }";
const ATTACKERS = 30;
/** Far more than end before the victim is served. A victim that is never served while there are others would be waited for in vain. */
const LOOPS_MAX = 400;

/** How many loops of attackers end while a request of a victim waits for its response: the median. */
async function loopsBeforeVictim({ runner, run, event }: TestRunner, loop: number): Promise<number> {
  const request = (n: number, turns: number) => ({
    versionKey: `hook${n}@1`,
    owner: { webhook: `hook${n}`, environment: n < 0 ? "victim" : "attackers" },
    evtJson: JSON.stringify({ loop: turns }),
  });
  for (let n = -1; n < ATTACKERS; n++) for (let twice = 0; twice < 2; twice++) await event(LOOPING, request(n, 0));
  let isOver = false;
  let loops = 0;
  const attacks = Array.from({ length: ATTACKERS }, async (_, n) => {
    for (; !isOver && loops < LOOPS_MAX; loops++) await run(LOOPING, request(n, loop));
  });
  // Requests come at their own pace, whether or not those before them were answered.
  const served = Array.from({ length: 20 }, async (_, n) => {
    await new Promise((resolve) => setTimeout(resolve, n * 25));
    const before = loops;
    assert.deepEqual(await event(LOOPING, request(-1, 0)), { quick: 1 });
    return loops - before;
  });
  const waitedFor = (await Promise.all(served)).sort((a, b) => a - b);
  isOver = true;
  await Promise.all([...attacks, runner.stop()]);
  return waitedFor[10] ?? 0;
}

describe("speeds", () => {
  it("follow the diagram", () => {
    const speeds = new VersionSpeeds(50);
    const after = (cpuMs: number) => {
      speeds.record("a", cpuMs);
      return speeds.speedOf("a");
    };
    assert.equal(speeds.speedOf("a"), "new");
    assert.deepEqual([after(1), after(51), after(250), after(50)], ["quick", "slow", "slow", "quick"]);
    speeds.record("b", 250);
    assert.equal(speeds.speedOf("b"), "slow");
  });

  it("are remembered for a bounded number of versions", () => {
    const speeds = new VersionSpeeds(50);
    for (let i = 0; i <= 5_000; i++) speeds.record(`v${i}`, 1);
    assert.equal(speeds.speedOf("v0"), "new");
    assert.equal(speeds.speedOf("v1"), "quick");
  });
});

describe("waiting work", () => {
  const work = (id: number, webhook: string, environment = "one") =>
    ({ job: { id }, versionKey: `${webhook}@1`, owner: { webhook, environment }, attempts: 0, settle: () => undefined }) as unknown as Work;

  it("lets who used little in the last seconds go first, by environment and by webhook", () => {
    let now = 0;
    const waiting = new WaitingWork({ waitingMax: 100, waitingSlowMax: 10, now: () => now });
    const arriving = [work(1, "a", "busy"), work(2, "a", "busy"), work(3, "b", "busy"), work(4, "c", "quiet"), work(5, "d", "unknown")];
    const addAll = () => {
      for (const one of arriving) waiting.add("quick", one);
    };
    const takeAll = () => Array.from({ length: 6 }, () => waiting.take("quick")?.job.id);
    addAll();
    waiting.charge({ webhook: "a", environment: "busy" }, 1_000);
    waiting.charge({ webhook: "b", environment: "busy" }, 10);
    waiting.charge({ webhook: "c", environment: "quiet" }, 500);
    assert.deepEqual(takeAll(), [5, 4, 3, 1, 2, undefined]);
    now = 10_000;
    waiting.charge({ webhook: "d", environment: "unknown" }, 1);
    addAll();
    assert.deepEqual(takeAll(), [1, 2, 3, 4, 5, undefined], "another period");
    assert.equal(waiting.size, 0);
  });

  it("lets whoever has the most waiting give way when a queue is full: the environment, and in it the webhook", () => {
    for (const [speed, count] of [
      ["quick", 100],
      ["new", 100],
      ["slow", 10],
    ] as const) {
      const waiting = new WaitingWork({ waitingMax: 100, waitingSlowMax: 10, now: () => 0 });
      const dropped = (id: number, webhook: string, environment: string) => waiting.add(speed, work(id, webhook, environment))?.job.id;
      for (let n = 0; n < count; n++) assert.equal(dropped(n, n % 10 === 0 ? "b" : "a", "greedy"), undefined);
      assert.equal(dropped(200, "c", "other"), count - 1, "the newest of the webhook that has the most");
      assert.equal(dropped(201, "a", "greedy"), 201, "not another that has less");
      assert.equal(waiting.size, count);
    }
  });

  it("lets work that is added give way if nobody has more waiting", () => {
    const waiting = new WaitingWork({ waitingMax: 3, waitingSlowMax: 3, now: () => 0 });
    for (const name of ["a", "b", "c"]) waiting.add("slow", work(1, name, name));
    assert.equal(waiting.add("slow", work(2, "d", "d"))?.owner.environment, "d");
    assert.equal(waiting.add("slow", work(3, "a", "a"))?.job.id, 3);
  });

  it("bounds each speed for itself", () => {
    const waiting = new WaitingWork({ waitingMax: 10, waitingSlowMax: 10, now: () => 0 });
    for (const speed of ["new", "slow"] as const) for (let n = 0; n < 20; n++) waiting.add(speed, work(n, `${n}`, `${n}`));
    assert.equal(waiting.add("quick", work(1, "a")), undefined);
    assert.equal(waiting.size, 21);
  });
});

describe("the runner", () => {
  it("runs quick versions while twenty others loop", async (t) => {
    const { runner, run, event } = testRunner({ waitingSlowMax: 100 });
    t.after(() => runner.stop());
    assert.deepEqual(await event("() => ({ quick: 1 })"), { quick: 1 });
    let looping = 20;
    for (let i = 0; i < 20; i++) void run(`() => { for (let n = 0; n < ${LONG}; n++); return { i: ${i} }; }`).then(() => looping--);
    for (let i = 0; i < 50; i++) assert.deepEqual(await event("() => ({ quick: 1 })"), { quick: 1 });
    // Had the quick ones waited behind the loops, few would be left.
    assert.ok(looping > 10, `${looping} loops left`);
  });

  it("serves a victim while thirty webhooks that had been quick loop", async () => {
    const waitedFor = await loopsBeforeVictim(testRunner({ waitingSlowMax: 100 }), LONG);
    assert.ok(waitedFor <= 4, `half of the victim's requests waited for more than ${waitedFor} loops to end`);
  });

  it("serves a victim before thirty webhooks that take what they get of a quick thread", async () => {
    const waitedFor = await loopsBeforeVictim(testRunner({ slowMs: NEVER_SLOW, quickThreads: 1 }), SHORT);
    // Those that the thread has already, eight at most. In the order of their arrival, it would be all of them.
    assert.ok(waitedFor <= 15, `half of the victim's requests waited for more than ${waitedFor} loops to end`);
  });

  it("serves a quick webhook while another of its environment alternates between quick runs and loops", async (t) => {
    const { runner, run, event } = testRunner({ waitingSlowMax: 100, quickThreads: 1 });
    t.after(() => runner.stop());
    const request = (webhook: string, loop: boolean) => ({
      versionKey: `${webhook}@1`,
      owner: { webhook, environment: "one" },
      evtJson: JSON.stringify({ loop: loop ? LONG : 0 }),
    });
    for (const webhook of ["victim", "attacker"]) await event(LOOPING, request(webhook, false));
    const attacks = Array.from({ length: 200 }, (_, n) => run(LOOPING, request("attacker", n % 2 === 0)));
    let attacksEnded = 0;
    for (const attack of attacks) void attack.then(() => attacksEnded++);
    for (let n = 0; n < 20; n++) assert.deepEqual(await event(LOOPING, request("victim", false)), { quick: 1 });
    // In the order of their arrival, all attacks would come first.
    assert.ok(attacksEnded < 150, `${attacksEnded} attacks came first`);
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
    const { runner, run, event } = testRunner({ waitingSlowMax: 1, slowMs: ALWAYS_SLOW });
    t.after(() => runner.stop());
    const slow = "() => ({ slow: 1 })";
    await event(slow);
    const outcomes = await Promise.all([run(slow), run(slow), run(slow), run("() => ({ a: 1 })")]);
    const codes = outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.code));
    assert.deepEqual(codes, ["ok", "ok", "overloaded", "ok"]);
  });

  it("serves another environment's slow webhook while one has filled the queue", async (t) => {
    const { runner, run } = testRunner({ waitingSlowMax: 4, slowMs: ALWAYS_SLOW });
    t.after(() => runner.stop());
    const codeOf = async (name: string) => {
      const request = { versionKey: `${name}@1`, owner: { webhook: name, environment: name }, evtJson: '{"loop":0}' };
      const outcome = await run(LOOPING, request);
      return outcome.ok ? "ok" : outcome.code;
    };
    for (const name of ["attacker", "victim"]) assert.equal(await codeOf(name), "ok");
    const attack = Array.from({ length: 10 }, () => codeOf("attacker"));
    assert.equal(await codeOf("victim"), "ok");
    // One ran, and of the four that waited one gave way.
    assert.equal((await Promise.all(attack)).filter((code) => code === "overloaded").length, 6);
  });

  it("runs what waited when its version proved slow", async (t) => {
    const { runner, event } = testRunner({ slowMs: ALWAYS_SLOW });
    t.after(() => runner.stop());
    for (let round = 0; round < 2; round++) {
      const source = `() => ({ round: ${round} })`;
      assert.deepEqual(await Promise.all(Array.from({ length: 5 }, () => event(source))), Array(5).fill({ round }));
    }
  });

  it("serves slow versions while new ones come without end", async (t) => {
    const { runner, event } = testRunner({ slowMs: ALWAYS_SLOW });
    t.after(() => runner.stop());
    const slow = "() => ({ slow: 1 })";
    await event(slow);
    let isOver = false;
    let count = 0;
    const flood = Array.from({ length: 3 }, async () => {
      while (!isOver) await event(`() => ({ n: ${count++} })`);
    });
    for (let n = 0; n < 5; n++) assert.deepEqual(await event(slow), { slow: 1 });
    isOver = true;
    await Promise.all(flood);
  });

  it("replaces a stuck thread, and runs what it had not begun elsewhere", async (t) => {
    const { runner, run, event } = testRunner({ slowMs: NEVER_SLOW, stuckMs: 1_000 });
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
