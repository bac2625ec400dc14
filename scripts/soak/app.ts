/**
 * The app of a soak: a function with steps, sleeps and a send, and one for webhooks. Each body of a step leaves a line in a file before
 * anything else: which event, which step, when.
 *
 *   node app.ts <port> <file>
 */

import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";

const [port = "", file = ""] = process.argv.slice(2);
const inlet = new Inlet({ id: "soak" });

function ran(key: unknown, step: number): number {
  appendFileSync(file, `${JSON.stringify({ key, step, at: Date.now() })}\n`);
  return step;
}

const order = inlet.createFunction({ id: "order", retries: 20 }, { event: "soak/order" }, async ({ event, step }) => {
  const { key } = event.data;
  await step.run("first", () => ran(key, 1));
  await step.sleep("nap", "2s");
  await step.run("second", () => ran(key, 2));
  await step.sendEvent("announce", { name: "soak/done", data: { key } });
  return step.run("third", () => ran(key, 3));
});

const hook = inlet.createFunction({ id: "hook", retries: 20 }, { event: "soak/hook" }, ({ event, step }) =>
  step.run("only", () => ran(event.data.key, 3)),
);

createServer(serve({ client: inlet, functions: [order, hook] })).listen(Number(port), "127.0.0.1", () => console.log("ready"));
