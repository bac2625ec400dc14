/**
 * Runs end right, whatever happens at the same moment. Random functions are played against a model, with faults that a seed decides
 * (see README.md), and so are cases that once went wrong. Every day plays other seeds. A failing one is printed with the command that plays
 * it again.
 */

import "./virtual-time.ts";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const { CASES } = await import("./cases/cases.ts");
const { seedOfDay } = await import("./seeds.ts");
const { simulate } = await import("./simulate.ts");

/** Few, since every day plays others. `npm run simulate` plays many. */
const SEEDS = 2;
const FIRST = seedOfDay(Date.now());
const ARGS = ["--from", String(FIRST), "--seeds", String(SEEDS), "--events", "100", "--functions", "12", "--narrow"];
const RUNS_MIN = 150;
const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

for (const { name, scenario, expect, isBeyondModel } of CASES) {
  test(name, async () => {
    const outcome = await simulate(scenario);
    if (!isBeyondModel) assert.deepEqual(outcome.faults, []);
    expect?.(outcome);
  });
}

test("random functions with faults end as the model says", async (t) => {
  t.diagnostic(`seeds ${FIRST} to ${FIRST + SEEDS - 1}`);
  const { code, text } = await play(ARGS, t.signal);
  assert.equal(code, 0, text);
  const runs = Number(/(\d+) runs, \d+ calls/.exec(text)?.[1] ?? 0);
  assert.ok(runs >= RUNS_MIN, `only ${runs} runs were simulated`);
});

function play(args: readonly string[], signal: AbortSignal): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "inherit"], signal });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, text }));
  });
}
