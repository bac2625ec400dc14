/** When memory is given back: after a start, at once, since starting took more than resting does; after work, once it has rested for long. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Once what the start set off is done. It takes some 30 ms, once. */
const AFTER_START_MS = 500;
/** A service that has work now and then, every minute perhaps, is not at rest. */
const REST = { checkMs: 60_000, checks: 10 };
/** Looking for work, and telling other nodes that one is there, takes less of a thread's time. */
const SHARE_AT_REST_MAX = 0.05;

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/**
 * V8 keeps the pages it has emptied until it is pressed for memory, which a service that nothing was sent to never is: after a start, that
 * is a sixth of what the process holds. For the thread that calls it.
 */
export function releaseMemorySoon(): void {
  setTimeout(release, AFTER_START_MS).unref();
}

/**
 * By itself V8 gives memory back after eight seconds at rest. It then also forgets the shapes of objects of which none is alive, and with
 * them the fast code that relies on them, which is nearly all of it: after each short pause the next 6,000 runs took twice the CPU time.
 * So V8 is kept from it, and it is done here after ten minutes.
 */
export function releaseMemoryAtRest({ checkMs, checks } = REST): void {
  setFlagsFromString("--memory-reducer-gc-count=0");
  let before = performance.eventLoopUtilization();
  let rested = 0;
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    rested = utilization < SHARE_AT_REST_MAX ? rested + 1 : 0;
    if (rested === checks) release();
  }, checkMs).unref();
}

function release(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  keepShapeOfTicks();
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

/**
 * A collection this thorough forgets the shapes of objects of which none is alive, and V8 never again makes fast code for a
 * literal with computed keys whose shape it forgot. `process.nextTick` has such a literal, and every request takes it six times:
 * while a tick waits its shape stays known. Measured: a tenth of the CPU time of a single event.
 */
function keepShapeOfTicks(): void {
  process.nextTick(() => {});
}
