/**
 * Whatever a transform does to its world, under whatever limits it ends, no later request sees a trace of it: a probe with a seed leaves marks
 * in random places, in random order, among runs that loop, allocate and throw.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createTransformRunner } from "../src/transform/index.ts";
import { attackInRounds, attackPlan, type Random } from "./support/attacks/attack-plan.ts";

const PLACES = [
  ..."globalThis Object.prototype Array.prototype Function.prototype String.prototype Number.prototype Map.prototype Set.prototype".split(
    " ",
  ),
  ..."Promise.prototype Date RegExp.prototype JSON Math Reflect Symbol console Error.prototype ArrayBuffer.prototype".split(" "),
  "Object.getPrototypeOf(function*(){})",
  "Object.getPrototypeOf(new Map().entries())",
  ..."evtOwner.prototype topLevel transform".split(" "),
];

/** Looks for marks, leaves one, looks whether memory it gets was used before, and then ends in one way or another. */
const PROBE = `
class evtOwner {}
const topLevel = {};
function transform(evt) {
  const places = [${PLACES.join(", ")}];
  const found = [];
  for (const [n, place] of places.entries()) for (const mark of evt.marks) if (place[mark] !== undefined) found.push(n + " has " + mark);
  try { places[evt.at][evt.mark] = evt.mark; } catch {}
  const bytes = new Uint8Array(evt.size);
  if (bytes.some((byte) => byte !== 0)) found.push("used memory");
  bytes.fill(0xab);
  if (evt.ending === "loop") for (;;);
  if (evt.ending === "allocate") { const all = []; for (;;) all.push(new Uint8Array(1e6).fill(0xcd)); }
  if (evt.ending === "throw") throw new Error(evt.mark);
  if (evt.ending === "recurse") { const deeper = () => 1 + deeper(); deeper(); }
  if (evt.ending === "strings") topLevel.text = evt.mark.repeat(evt.size);
  return { name: "probe/done", data: { found } };
}`;

function probe(random: Random, marks: string[]) {
  const mark = `mark${random.below(1e9)}`;
  marks.push(mark);
  if (marks.length > 50) marks.shift();
  // Endings that take long are rare.
  const ending =
    random.below(12) === 0 ? random.pick(["loop", "allocate"]) : random.pick(["throw", "recurse", "strings", "return", "return"]);
  return { at: random.below(PLACES.length), mark, marks, size: random.below(random.below(8) === 0 ? 200_000 : 20_000), ending };
}

test("no request finds what an earlier one left", async (t) => {
  const runner = createTransformRunner({ limits: { timeoutMs: 200, memoryBytes: 8 * 1_048_576 }, slowMs: 10 });
  t.after(() => runner.stop());
  const marks: string[] = [];
  const plan = attackPlan(150);
  let returned = 0;
  await attackInRounds(plan, async (random) => {
    const evtJson = JSON.stringify(probe(random, marks));
    const versionKey = `probe@${random.below(4)}`;
    const outcome = await runner.run({ versionKey, source: PROBE, evtJson, headers: {}, queryParams: {}, raw: "" });
    if (!outcome.ok) return;
    returned++;
    assert.deepEqual(JSON.parse(outcome.eventJson).data.found, []);
  });
  assert.ok(returned > 40, `only ${returned} returned: this tests nothing (seed ${plan.seed})`);
});
