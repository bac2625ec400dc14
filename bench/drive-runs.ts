/** Drives runs: sends events to a service whose app runs a function for each, and waits until all have ended. */

import { Agent, request } from "undici";
import type { SampledCall } from "./app-server.ts";
import type { Server } from "./processes.ts";

export interface Control {
  ended: number;
  enteredAt: number;
  calls: number;
  samples: SampledCall[];
}

export type Sdk = "inlet" | "inngest";

export const SIGNING_KEY = `signkey-bench-${"5e".repeat(32)}`;
/** As many calls at once as the service makes to one app. */
export const CALLS_AT_ONCE = 100;
const EVENTS_PER_BATCH = 100;
const SENDERS = 4;

export async function sync(inlet: Server, app: Server): Promise<void> {
  const response = await fetch(`${inlet.url}/v1/apps`, {
    method: "POST",
    headers: { authorization: "Bearer bench", "content-type": "application/json" },
    body: JSON.stringify({ url: `${app.url}/api` }),
  });
  if (response.status !== 201) throw new Error(`the app did not register: ${await response.text()}`);
}

/** Runs a second, from the first send to the last end. */
export async function runMany(inlet: Server, app: Server, name: string, count: number): Promise<number> {
  const target = (await readControl(app)).ended + count;
  const begun = performance.now();
  const batch = batchOf(name, EVENTS_PER_BATCH);
  let left = count;
  async function sendBatches(): Promise<void> {
    while (left > 0) {
      const size = Math.min(EVENTS_PER_BATCH, left);
      left -= size;
      await send(inlet, size === EVENTS_PER_BATCH ? batch : batchOf(name, size));
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sendBatches));
  await readControl(app, target);
  return count / ((performance.now() - begun) / 1_000);
}

/** The floor: calls a second. */
export async function postMany(app: Server, calls: readonly SampledCall[], count: number): Promise<number> {
  const agent = new Agent({ connections: CALLS_AT_ONCE });
  const begun = performance.now();
  let next = 0;
  async function post(): Promise<void> {
    while (next < count) {
      const { path, headers, body } = calls[next++ % calls.length] as SampledCall;
      const { body: answer } = await agent.request({ origin: app.url, path, method: "POST", headers, body });
      await answer.text();
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, post));
  const seconds = (performance.now() - begun) / 1_000;
  await agent.close();
  return count / seconds;
}

/** How soon after each of so many sends the function is entered, when nothing else is going on. */
export async function idleDelaysMs(inlet: Server, app: Server, sends: number): Promise<number[]> {
  const delaysMs: number[] = [];
  for (let i = 0; i < sends; i++) {
    delaysMs.push(await sendToEntry(inlet, app, "plain"));
    await pause(10);
  }
  return delaysMs;
}

/** Milliseconds from a send to the entry into the function. */
export async function sendToEntry(inlet: Server, app: Server, name: string): Promise<number> {
  const { ended } = await readControl(app);
  const entered = readControl(app, ended + 1);
  const sentAt = performance.timeOrigin + performance.now();
  await send(inlet, JSON.stringify({ name: `bench/${name}`, data: {} }));
  return (await entered).enteredAt - sentAt;
}

/** Answered once so many functions have ended. */
export async function readControl(app: Server, ended = 0): Promise<Control> {
  return (await (await fetch(`${app.url}/control?ended=${ended}`)).json()) as Control;
}

export function batchOf(name: string, size: number): string {
  return JSON.stringify(Array.from({ length: size }, (_, n) => ({ name: `bench/${name}`, data: { n, order: "A-1042", total: 99.5 } })));
}

export async function send(inlet: Server, events: string): Promise<void> {
  const response = await request(`${inlet.url}/e/bench`, { method: "POST", body: events });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`a send was refused: ${text}`);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
