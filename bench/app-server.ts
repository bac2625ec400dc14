/**
 * An app for the benchmark of runs, as a process of its own: `node bench/app-server.ts <inlet | inngest> <base url> <signing key>`.
 * Beside its functions it tells, on /control, how many ended, when the last one was entered, how often it was called, and what the calls looked like; with
 * ?ended=<n> once so many have, so that nobody has to ask again and again on the cores that are measured.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Inlet } from "@inlet/sdk";
import { serve as serveInlet } from "@inlet/sdk/node";
import { Inngest } from "inngest";
import { serve as serveInngest } from "inngest/node";
import { listen } from "./loopback-server.ts";

const [, , kind, baseUrl = "", signingKey = ""] = process.argv;
const SAMPLES_MAX = 3;

export interface SampledCall {
  path: string;
  headers: Record<string, string>;
  body: string;
}

let ended = 0;
let enteredAt = 0;
/** Those who want to know when so many have ended. */
let waiting: { until: number; response: ServerResponse }[] = [];
let calls = 0;
/** The calls of one run of each function, for the floor to repeat. */
const samples = new Map<string, SampledCall[]>();

const plain = () => {
  enteredAt = performance.timeOrigin + performance.now();
  noteEnd();
  return "ok";
};
interface Steps {
  run(id: string, work: () => number | Promise<number>): Promise<number>;
}
const twoSteps = async ({ step }: { step: Steps }) => {
  const one = await step.run("one", () => 1);
  const two = await step.run("two", () => one + 1);
  noteEnd();
  return two;
};

const sideBySide =
  (count: number, apartMs = 0) =>
  async ({ step }: { step: Steps }) => {
    const values = await Promise.all(Array.from({ length: count }, (_, n) => step.run(`part ${n}`, () => after(n * apartMs, n))));
    noteEnd();
    return values.length;
  };

/** Waits until the event "bench/go" ends the wait. */
const waits = async ({ step }: { step: { waitForEvent(id: string, options: object): Promise<unknown> } }) => {
  await step.waitForEvent("go", { event: "bench/go", timeout: "1h" });
  noteEnd();
};

const after = (ms: number, value: number) => (ms === 0 ? value : new Promise<number>((resolve) => setTimeout(resolve, ms, value)));

const handler = kind === "inlet" ? inletApp() : inngestApp();
const server = createServer((request, response) => {
  if (request.url?.startsWith("/control")) return control(request.url, response);
  calls++;
  sample(request);
  void handler(request, response);
});
listen(server);

function inletApp() {
  const client = new Inlet({ id: "bench", baseUrl, signingKey, eventKey: "bench" });
  return serveInlet({
    client,
    functions: [
      client.createFunction({ id: "plain" }, { event: "bench/plain" }, plain),
      client.createFunction({ id: "live" }, { event: "bench/live" }, plain),
      // One node at a time works on what is under a limit: the way to have another node do it.
      client.createFunction({ id: "limited", concurrency: { limit: 5 } }, { event: "bench/limited" }, plain),
      client.createFunction({ id: "two-steps" }, { event: "bench/two-steps" }, twoSteps as never),
      client.createFunction({ id: "waits" }, { event: "bench/waits" }, waits as never),
      client.createFunction({ id: "parallel-3" }, { event: "bench/parallel-3" }, sideBySide(3) as never),
      client.createFunction({ id: "parallel-20" }, { event: "bench/parallel-20" }, sideBySide(20) as never),
      client.createFunction({ id: "parallel-20-apart" }, { event: "bench/parallel-20-apart" }, sideBySide(20, 20) as never),
    ],
  });
}

/** Without checkpoints each step is a call of its own, as the floor repeats them. */
function inngestApp() {
  const client = new Inngest({ id: "bench", baseUrl, signingKey, eventKey: "bench", isDev: false, checkpointing: false });
  return serveInngest({
    client,
    functions: [
      client.createFunction({ id: "plain", triggers: [{ event: "bench/plain" }] }, plain as never),
      client.createFunction({ id: "two-steps", triggers: [{ event: "bench/two-steps" }] }, twoSteps as never),
    ],
  });
}

function sample(request: IncomingMessage): void {
  const path = request.url ?? "";
  if (request.method !== "POST" || (samples.get(path)?.length ?? 0) >= SAMPLES_MAX) return;
  const kept = Object.entries(request.headers).filter(([name]) => /^(x-|content-type)/.test(name));
  const headers = Object.fromEntries(kept) as Record<string, string>;
  const chunks: Buffer[] = [];
  // Listening would take the body away from SDKs that begin to read later.
  const emit = request.emit.bind(request);
  request.emit = (event: string | symbol, ...rest: unknown[]) => {
    if (event === "data") chunks.push(rest[0] as Buffer);
    if (event === "end") samples.set(path, [...(samples.get(path) ?? []), { path, headers, body: Buffer.concat(chunks).toString() }]);
    return emit(event, ...rest);
  };
}

function noteEnd(): void {
  ended++;
  if (!waiting.some(({ until }) => until <= ended)) return;
  for (const { until, response } of waiting) if (until <= ended) tell(response);
  waiting = waiting.filter(({ until }) => until > ended);
}

function control(url: string, response: ServerResponse): void {
  const until = Number(new URL(url, "http://app").searchParams.get("ended") ?? 0);
  if (ended >= until) tell(response);
  else waiting.push({ until, response });
}

function tell(response: ServerResponse): void {
  response.end(JSON.stringify({ ended, enteredAt, calls, samples: [...samples.values()].flat() }));
}
