/**
 * Prints how many bytes of a call survive V8's quick collections although the call has ended: `node --expose-gc <this> <url of an app>`.
 * A process of its own, because hooks of a test runner keep promises alive.
 */

import { getHeapSpaceStatistics } from "node:v8";
import { AppAddresses } from "../../src/execute/call/app-addresses.ts";
import { AppCaller } from "../../src/execute/call/call-app.ts";

const CALLS = 10;
const WARM_ROUNDS = 20;
/** Odd, for the median: a full collection, which V8 makes at any time, spoils a round. */
const ROUNDS = 41;

const url = process.argv[2] as string;
const caller = new AppCaller({ timeoutMs: 10_000, connectionsMax: CALLS, addresses: new AppAddresses(null) });
for (let round = 0; round < WARM_ROUNDS; round++) await callMany();

// Calls in progress grow old here. What they still refer to when they have ended would be no garbage for a quick collection.
const inProgress = callMany();
await collectYoung();
await inProgress;

const grown: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const before = oldBytes();
  await callMany();
  await collectYoung();
  grown.push(oldBytes() - before);
}
const median = grown.sort((one, other) => one - other)[(ROUNDS - 1) / 2] as number;
console.log(Math.round(median / CALLS));
await caller.stop();

async function callMany(): Promise<void> {
  const bodies = Array.from({ length: CALLS }, (_, n) => JSON.stringify({ n, text: "x".repeat(2_000) }));
  await Promise.all(bodies.map((body) => caller.call({ method: "POST", url, headers: { "x-a": "1" }, body })));
}

/** What survives two quick collections grows old. In a turn of its own: no function still holds what it awaited. */
async function collectYoung(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc?.({ type: "minor" });
  globalThis.gc?.({ type: "minor" });
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
}
