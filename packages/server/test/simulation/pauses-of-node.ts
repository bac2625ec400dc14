/** What modules of Node offer to wait with, and to see how busy the process is: both follow the time of the simulation. */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { pass } from "./virtual-time.ts";

const real = { setTimeout: timers.setTimeout, utilization: performance.eventLoopUtilization };
const IDLE = { idle: 1, active: 0, utilization: 0 };

export function pauseVirtually(): void {
  timers.setTimeout = ((ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) => {
    const aborted = new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
    if (signal?.aborted) return Promise.reject(signal.reason);
    return Promise.race([pass(ms).then(() => value), aborted]);
  }) as typeof timers.setTimeout;
  performance.eventLoopUtilization = () => IDLE;
  syncBuiltinESMExports();
}

export function pauseReally(): void {
  timers.setTimeout = real.setTimeout;
  performance.eventLoopUtilization = real.utilization;
  syncBuiltinESMExports();
}
