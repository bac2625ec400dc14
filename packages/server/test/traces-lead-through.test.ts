/** One trace leads from a sender through the service into the app: `traceparent` is kept with the event and carried to every call. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { onEnd } from "./support/on-end.ts";
import { endedRun } from "./support/runs.ts";
import { EVENT_KEY, SIGNING_KEY, startTestService } from "./support/service.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("the sender's traceparent reaches every call of its runs, and an invalid one is ignored", async (t) => {
  const service = await startTestService(t);
  const client = new Inlet({ id: "shop", baseUrl: service.url, eventKey: EVENT_KEY, signingKey: SIGNING_KEY, isDev: false });
  const twoSteps = client.createFunction({ id: "two" }, { event: "app/traced" }, async ({ step }) => {
    await step.run("one", () => 1);
    await step.sleep("nap", "1ms");
    return step.run("two", () => 2);
  });
  const handler = serve({ client, functions: [twoSteps] });
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    if (request.method === "POST") seen.push(request.headers.traceparent as string | undefined);
    void handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  assert.equal((await service.rest("POST", "/apps", { body: { url } })).status, 201);

  const run = async (headers: Record<string, string>) => {
    seen.length = 0;
    const { body } = await service.send({ name: "app/traced", data: {} }, { headers });
    assert.equal((await endedRun(service, body.ids[0])).status, "completed");
    return [...seen];
  };
  const traced = await run({ traceparent: TRACEPARENT });
  assert.ok(traced.length >= 2);
  assert.deepEqual(new Set(traced), new Set([TRACEPARENT]));
  assert.deepEqual(new Set(await run({ traceparent: "00-nonsense" })), new Set([undefined]));
  assert.deepEqual(new Set(await run({})), new Set([undefined]));
});
