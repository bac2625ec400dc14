/**
 * One trace leads from a sender through the service into the app: `traceparent` is kept with the event and carried to every call, of the
 * runs it invokes and of the events it sends too.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { endedRun, isEnded, until } from "./support/runs.ts";
import { EVENT_KEY, SIGNING_KEY, startTestService } from "./support/service.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("the sender's traceparent reaches every call of its runs and of what they start, and an invalid one is ignored", async (t) => {
  const service = await startTestService(t, { flags: ["--trace-url", "https://traces.example/{traceId}?id={traceId}"] });
  const client = new Inlet({ id: "shop", baseUrl: service.url, eventKey: EVENT_KEY, signingKey: SIGNING_KEY, isDev: false });
  const twoSteps = client.createFunction({ id: "two" }, { event: "app/traced" }, async ({ step }) => {
    await step.run("one", () => 1);
    await step.sleep("nap", "1ms");
    await step.invoke("child", { function: child });
    await step.sendEvent("send", { name: "app/sent", data: {} });
    await step.waitForEvent("answer", { event: "app/answer", timeout: "1h" });
  });
  const child = client.createFunction({ id: "child" }, { event: "app/never" }, () => 1);
  const other = client.createFunction({ id: "other" }, { event: "app/sent" }, ({ step }) =>
    step.sendEvent("answer", { name: "app/answer", data: {} }),
  );
  const handler = serve({ client, functions: [twoSteps, child, other] });
  const seen: (string | undefined)[] = [];
  const called = new Set<string | null>();
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      seen.push(request.headers.traceparent as string | undefined);
      called.add(new URL(request.url ?? "", "http://app").searchParams.get("fnId"));
    }
    void handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  assert.equal((await service.rest("POST", "/apps", { body: { url } })).status, 201);

  const run = async (headers: Record<string, string>) => {
    seen.length = 0;
    const { body } = await service.send({ name: "app/traced", data: {} }, { headers });
    const { id, status } = await endedRun(service, body.ids[0]);
    assert.equal(status, "completed");
    // Those that it started may be called once more.
    await until("the end of all runs", async () =>
      (await service.rest("GET", "/runs?limit=100")).body.data.every(isEnded) ? true : undefined,
    );
    const { traceId, traceUrl } = (await service.rest("GET", `/runs/${id}`)).body.data;
    return { parents: new Set(seen), traceId, traceUrl };
  };
  const traceId = TRACEPARENT.slice(3, 35);
  const traceUrl = `https://traces.example/${traceId}?id=${traceId}`;
  assert.deepEqual(await run({ traceparent: TRACEPARENT }), { parents: new Set([TRACEPARENT]), traceId, traceUrl });
  assert.deepEqual(called, new Set(["shop-two", "shop-child", "shop-other"]));
  const none = { parents: new Set([undefined]), traceId: null, traceUrl: null };
  assert.deepEqual(await run({ traceparent: "00-nonsense" }), none);
  assert.deepEqual(await run({}), none);
});
