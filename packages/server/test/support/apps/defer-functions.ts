/** Functions that defer others, and that hand sessions on. */

import type { Client, Define, PublishedSdk } from "./published-sdk.ts";

export function deferFunctions(sdk: PublishedSdk, client: Client, define: Define): unknown[] {
  const seesMeta = define("sees-meta", ({ event }) => ({ meta: event.meta ?? null, v: event.v ?? null }));
  const sessions = define("hands-sessions-on", async ({ step, event }) => {
    const { ids } = await step.sendEvent("send", {
      name: "app/sees-meta",
      data: { key: event.data.key },
      meta: { sessions: { b: "own" } },
    });
    return { ids, invoked: await step.invoke("invoke", { function: seesMeta, data: {}, v: "7" }) };
  });
  if (!sdk.createDefer) return [seesMeta];
  const later = sdk.createDefer(client, { id: "later" }, ({ event, parents }) => ({ data: event.data, parent: parents?.[0]?.runId }));
  const deferrer = define(
    "deferrer",
    async ({ step, event, defer, attempt }) => {
      defer?.("kept", { function: later, data: { key: event.data.key, n: 1 } });
      const dropped = defer?.("dropped", { function: later, data: { key: event.data.key, n: 2 } });
      await step.run("one", () => 1);
      dropped?.abort();
      await step.sleep("pause", "10ms");
      if (event.data.fails) throw new Error(`failure ${attempt}`);
      return "done";
    },
    { retries: 1 },
  );
  return [seesMeta, sessions, later, deferrer];
}
