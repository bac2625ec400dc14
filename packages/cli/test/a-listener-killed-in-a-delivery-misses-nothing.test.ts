/** `inlet listen` killed while a copy is on its way: how far it came is kept only after arrival, so the next one begins with that copy. */

import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { poll } from "../../server/test/support/app.ts";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { EVENT_KEY, startServer, workingFolder } from "./support/working-folder.ts";

interface Arrival {
  n: number;
  response: ServerResponse;
}

/** An app that answers when the test says so. */
async function startHoldingApp(t: TestContext) {
  const arrived: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    arrived.push({ n: (body.data ?? body).n, response });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const next = () => poll(async () => arrived.shift() ?? null, "a copy");
  /** The next copy, answered. */
  const take = async () => {
    const { n, response } = await next();
    response.end("ok");
    return n;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, next, take };
}

const KINDS = {
  events: async (url: string) => ({
    flags: [] as string[],
    send: (n: number) => fetch(`${url}/e/${EVENT_KEY}`, { method: "POST", body: JSON.stringify({ name: "shop/order", data: { n } }) }),
  }),
  "webhook requests": async (_url: string, rest: Awaited<ReturnType<typeof startServer>>["rest"]) => {
    const hook = await rest("POST", "/webhooks", { name: "Pay", transform: "(evt) => ({ name: 'pay/came', data: evt })" });
    const headers = { "content-type": "application/json" };
    return {
      flags: ["--webhook", "Pay"],
      send: (n: number) => fetch(hook.url, { method: "POST", headers, body: JSON.stringify({ n }) }),
    };
  },
};

for (const [kind, setUp] of Object.entries(KINDS)) {
  test(`${kind}: the one that was on its way arrives again, those before it do not`, async (t) => {
    const { url, rest, variables } = await startServer(t);
    const { flags, send } = await setUp(url, rest);
    const app = await startHoldingApp(t);
    const place = workingFolder(t, variables);
    const argv = ["listen", "--to", app.url, ...flags];
    const first = place.start(...argv);
    await first.printed(/Connected\./);
    for (const n of [1, 2, 3]) assert.equal((await send(n)).status, 200);
    assert.equal(await app.take(), 1);
    // The second has arrived at the app, which has not answered yet.
    assert.equal((await app.next()).n, 2);
    await first.end("SIGKILL");

    place.start(...argv);
    assert.deepEqual([await app.take(), await app.take()], [2, 3]);
    assert.equal((await send(4)).status, 200);
    assert.equal(await app.take(), 4, "and nothing twice");
  });
}
