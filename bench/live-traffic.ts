/**
 * Live traffic beside other work: single events are sent at a steady rate, each starts a function, and the time until each is accepted
 * is measured. Times count from when an event was due to be sent, so that a stall is seen whole.
 */

import { Agent } from "undici";
import { pause } from "./drive-runs.ts";
import type { Server } from "./processes.ts";

export const LIVE_PER_S = 200;
const CONNECTIONS = 64;

/** Sends for as long as `work` takes; how many milliseconds each event took. */
export async function sendLive(inlet: Server, work: () => Promise<void>): Promise<number[]> {
  const agent = new Agent({ connections: CONNECTIONS });
  const body = JSON.stringify({ name: "bench/live", data: { order: "A-1042", total: 99.5 } });
  const latenciesMs: number[] = [];
  let isOver = false;
  async function send(dueAt: number): Promise<void> {
    const { statusCode, body: answer } = await agent.request({ origin: inlet.url, path: "/e/bench", method: "POST", body });
    await answer.dump();
    if (statusCode !== 200) throw new Error(`a send was answered with ${statusCode}`);
    latenciesMs.push(performance.now() - dueAt);
  }
  async function sendOnTime(): Promise<void> {
    const sent: Promise<void>[] = [];
    const begun = performance.now();
    for (let n = 0; !isOver; n++) {
      const dueAt = begun + (n * 1_000) / LIVE_PER_S;
      const earlyMs = dueAt - performance.now();
      if (earlyMs > 0) await pause(earlyMs);
      sent.push(send(dueAt));
    }
    await Promise.all(sent);
  }
  const sending = sendOnTime();
  await Promise.race([work(), sending]);
  isOver = true;
  await sending;
  await agent.close();
  return latenciesMs;
}

/** The latency below which this share of the events stayed; 1 gives the longest. */
export function latencyAt(latenciesMs: number[], share: number): number {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
