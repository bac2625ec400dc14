/**
 * Random functions: sequences, parallel groups and races of steps, sleeps and waits, nested, with steps that fail at first.
 * Whatever ends first, each run must come to its end, complete each step once, and see each race end the same way in every call.
 *
 *   PROGRAMS_SEED=7 node --test packages/sdk/test/random-programs-keep-their-path.test.ts
 */

import assert from "node:assert/strict";
import test from "node:test";
import type { FunctionContext } from "@inlet/sdk";
import { run, testApp } from "./test-app.ts";

const PROGRAMS = 60;
const FIRST_SEED = Number(process.env.PROGRAMS_SEED ?? 1);

type Tools = FunctionContext<Record<never, never>, false, unknown>["step"];
type Part = { kind: "step" | "sleep" | "wait"; id: string; ticks: number } | { kind: "seq" | "all" | "race"; id: string; parts: Part[] };

for (let seed = FIRST_SEED; seed < FIRST_SEED + PROGRAMS; seed++) {
  test(`program ${seed}`, async (t) => {
    const random = randomFrom(seed);
    const ids: string[] = [];
    const program = group("seq", 3, random, ids);
    const completed = new Map<string, number>();
    const failedOnce = new Set<string>();
    const { inlet } = await testApp(t);
    const fn = inlet.createFunction({ id: "random" }, { event: "test/event" }, ({ step }) =>
      execute(program, step, (id) => {
        if (!failedOnce.has(id) && random() < 0.2) {
          failedOnce.add(id);
          throw new Error(`${id} fails at first`);
        }
        completed.set(id, (completed.get(id) ?? 0) + 1);
        return id;
      }),
    );
    // Half of the time a race's outcome is kept as soon as it is known, so that losers which end later could still upset it.
    const ranked = ids.map((id) => ({ id, rank: seed % 2 === 0 && id.startsWith("after") ? 0 : random() }));
    const order = ranked.sort((a, b) => a.rank - b.rank);
    const { status, output } = await run(t, fn, { order: order.map(({ id }) => id), maxAttempts: 2 });
    assert.equal(status, "completed", `seed ${seed}: ${JSON.stringify(output)}\n${JSON.stringify(program)}`);
    for (const [id, times] of completed) assert.equal(times, 1, `seed ${seed}: ${id} completed ${times} times`);
  });
}

function group(kind: "seq" | "all" | "race", depth: number, random: () => number, ids: string[]): Part {
  const id = `${kind} ${ids.length}`;
  ids.push(`after ${id}`);
  const parts = Array.from({ length: 2 + Math.floor(random() * 3) }, (): Part => {
    const pick = random();
    if (depth > 0 && pick < 0.4) return group((["seq", "all", "race"] as const)[Math.floor(random() * 3)] ?? "seq", depth - 1, random, ids);
    const leaf = pick < 0.8 ? "step" : pick < 0.9 ? "sleep" : "wait";
    const name = `${leaf} ${ids.length}`;
    ids.push(name);
    return { kind: leaf, id: name, ticks: Math.floor(random() * 20) };
  });
  return { kind, id, parts };
}

async function execute(part: Part, step: Tools, body: (id: string) => string): Promise<string> {
  switch (part.kind) {
    case "step":
    case "sleep":
    case "wait": {
      if (part.kind === "step") await step.run(part.id, () => body(part.id));
      else if (part.kind === "sleep") await step.sleep(part.id, "1h");
      else await step.waitForEvent(part.id, { event: "x", timeout: "1d" });
      for (let i = 0; i < part.ticks; i++) await null;
      return part.id;
    }
    case "seq": {
      const path: string[] = [];
      for (const each of part.parts) path.push(await execute(each, step, body));
      return path.join(",");
    }
    case "all":
      return (await Promise.all(part.parts.map((each) => execute(each, step, body)))).join("+");
    case "race": {
      const winner = await Promise.race(part.parts.map((each) => execute(each, step, body)));
      const before = await step.run(`after ${part.id}`, () => winner);
      if (before !== winner) throw new Error(`${part.id}: "${winner}" wins now, "${before}" won before`);
      return winner;
    }
  }
}

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
