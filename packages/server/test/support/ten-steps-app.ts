/**
 * An app as users write it, with the published SDK or with ours, in a process of its own that a test may kill: a function of ten
 * steps with sends, sleeps and a wait, and one that runs for every event the first one sends. Each body of a step leaves a line
 * in a file before it does anything else, so that a test can count how often it ran, whatever became of the process.
 *
 *   node ten-steps-app.ts <sdk> <port> <address of Inlet> <file>
 */

import { appendFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { RUN_STEPS } from "./ten-steps.ts";

const [sdk, port, baseUrl, file] = process.argv.slice(2) as ["inngest" | "inlet", string, string, string];

interface Sent {
  id?: string;
  name: string;
  data: { n: number; label: string };
}

/** What both SDKs have. */
interface Steps {
  run(id: string, body: () => Promise<string>): Promise<string>;
  sendEvent(id: string, events: Sent | Sent[]): Promise<unknown>;
  sleep(id: string, duration: string): Promise<void>;
  waitForEvent(id: string, wanted: { event: string; if: string; timeout: string }): Promise<{ data: { n?: number } } | null>;
}

async function ran(n: number, step: string): Promise<string> {
  appendFileSync(file, `${n} ${step}\n`);
  // A body takes a moment, so that crashes hit it while it runs.
  await sleep(n % 5);
  return `${step} of ${n}`;
}

/** Our SDK sends under an id of the step's own when the sender gives none; with the published one, senders have to. */
function sent(n: number, label: string): Sent {
  return { ...(sdk === "inngest" && { id: `${n}-${label}` }), name: "crash/sent", data: { n, label } };
}

const [first, second, third, fourth, fifth, last] = RUN_STEPS;

async function tenSteps(n: number, step: Steps): Promise<unknown> {
  await step.run(first, () => ran(n, first));
  await step.sendEvent("send-one", sent(n, "one"));
  await step.run(second, () => ran(n, second));
  await step.sleep("nap", "30ms");
  await step.run(third, () => ran(n, third));
  const answer = await step.waitForEvent("answer", { event: "crash/answer", if: "async.data.n == event.data.n", timeout: "10m" });
  await step.run(fourth, () => ran(n, fourth));
  await step.sendEvent("send-two", [sent(n, "two"), sent(n, "three")]);
  await step.run(fifth, () => ran(n, fifth));
  await step.sleep("another-nap", "20ms");
  const end = await step.run(last, () => ran(n, last));
  return { end, answer: answer?.data.n ?? null };
}

async function tally({ n, label }: Sent["data"], step: Steps): Promise<unknown> {
  return step.run("count", () => ran(n, `count-${label}`));
}

/** Only the SDK that is used is loaded. */
async function published(): Promise<RequestListener> {
  const [{ Inngest }, { serve }] = await Promise.all([import("inngest"), import("inngest/node")]);
  const client = new Inngest({ id: "crash", isDev: true, baseUrl, eventKey: "test-event-key" });
  const functions = [
    client.createFunction({ id: "ten-steps", retries: 20, triggers: [{ event: "crash/begin" }] }, ({ event, step }) =>
      tenSteps(event.data.n as number, step as unknown as Steps),
    ),
    client.createFunction({ id: "tally", retries: 20, triggers: [{ event: "crash/sent" }] }, ({ event, step }) =>
      tally(event.data as Sent["data"], step as unknown as Steps),
    ),
  ];
  return serve({ client, functions });
}

async function ours(): Promise<RequestListener> {
  const [{ Inlet }, { serve }] = await Promise.all([import("@inlet/sdk"), import("@inlet/sdk/node")]);
  const client = new Inlet({ id: "crash", isDev: true, baseUrl, eventKey: "test-event-key" });
  const functions = [
    client.createFunction({ id: "ten-steps", retries: 20 }, { event: "crash/begin" }, ({ event, step }) =>
      tenSteps((event.data as Sent["data"]).n, step as unknown as Steps),
    ),
    client.createFunction({ id: "tally", retries: 20 }, { event: "crash/sent" }, ({ event, step }) =>
      tally(event.data as Sent["data"], step as unknown as Steps),
    ),
  ];
  return serve({ client, functions });
}

createServer(await (sdk === "inngest" ? published() : ours())).listen(Number(port), "127.0.0.1", () => console.log("ready"));
