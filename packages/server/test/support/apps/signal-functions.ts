/** Functions that wait for signals and send them. */

import type { Define } from "./published-sdk.ts";

export function signalFunctions(define: Define): unknown[] {
  return [
    define("signal-waiter", ({ step, event }) =>
      step.waitForSignal("approval", { signal: `approve ${event.data.key}`, timeout: "1h", onConflict: "fail" }),
    ),
    define("signal-sender", async ({ step, event }) => {
      const sent = await step.sendSignal("approve", { signal: `approve ${event.data.to}`, data: { by: "Ada", n: 0.1 } });
      const vain = await step.sendSignal("again", { signal: `approve ${event.data.to}` });
      return { sent, vain: vain ?? null };
    }),
    define("vain-signal-waiter", async ({ step, event }) => ({
      approval: await step.waitForSignal("approval", { signal: `never ${event.data.key}`, timeout: "1s", onConflict: "fail" }),
    })),
    define("signal-rival", ({ step, event }) =>
      step.waitForSignal("approval", { signal: `one ${event.data.name}`, timeout: event.data.timeout, onConflict: event.data.onConflict }),
    ),
  ];
}
