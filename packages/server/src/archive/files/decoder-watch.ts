/**
 * A thread of the decoder's process that ends the process when a task has taken too much CPU time, or the process too much memory: the thread
 * that parses is busy then and cannot find out. Time in which a slow machine or storage keeps it waiting does not count.
 */

import { workerData } from "node:worker_threads";

export interface WatchData {
  /** One number: that of the task under way, 0 for none. */
  current: Int32Array;
  cpuMs: number;
  memoryBytes: number;
}

const EVERY_MS = 100;

const { current, cpuMs, memoryBytes } = workerData as WatchData;
let [seen, seenAtMs] = [0, 0];
setInterval(() => {
  const { user, system } = process.cpuUsage();
  const usedMs = (user + system) / 1_000;
  const task = Atomics.load(current, 0);
  if (task !== seen) [seen, seenAtMs] = [task, usedMs];
  const isStuck = task !== 0 && usedMs - seenAtMs > cpuMs;
  if (isStuck || process.memoryUsage.rss() > memoryBytes) process.kill(process.pid, "SIGKILL");
}, EVERY_MS);
