/** What functions of SDKs of other languages must see, in dev and with signatures. Both apps have functions of the same names. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "../on-end.ts";
import { endedRun, runsOfEvent, until } from "../runs.ts";
import type { TestService } from "../service.ts";

/** Answers with the credentials it was given. */
async function startEcho(t: TestContext): Promise<string> {
  const server = createServer((request, response) =>
    response.end(JSON.stringify({ authorization: request.headers.authorization ?? null })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** One function with every kind of step: sends what it waits for as it comes to it, and returns its output. */
export async function runEverything(t: TestContext, service: TestService, prefix: "py" | "go") {
  const key = `key-${prefix}`;
  const { body } = await service.send({ name: `${prefix}/all`, data: { key, url: await startEcho(t) } });
  const [eventId] = body.ids;
  const waitsFor = (name: string) =>
    until(name, async () => {
      const [run] = await runsOfEvent(service, eventId);
      const details = run && (await service.rest("GET", `/runs/${run.id}`)).body.data;
      if (details?.endedAt) throw new Error(`ended early: ${JSON.stringify(details).slice(0, 3_000)}`);
      return details?.steps.some((step: { name: string; status: string }) => step.name === name && step.status === "waiting")
        ? true
        : undefined;
    });
  await waitsFor("answer");
  await service.send({ name: `${prefix}/answer`, data: { key: "another", n: 1 } });
  await service.send({ name: `${prefix}/answer`, data: { key, n: 2 } });
  if (prefix === "go") {
    await waitsFor("signal");
    assert.equal((await service.rest("POST", "/signals", { body: { signal: `go ${key}`, data: { by: "Ada" } } })).status, 200);
  }
  const run = await endedRun(service, eventId);
  assert.equal(run.status, "completed", JSON.stringify(run).slice(0, 3_000));
  const { body: heard } = await service.rest("GET", `/events?name=${prefix}/heard`);
  assert.equal(heard.data.length, 1, "an event that a step sent");
  return run.output;
}

export async function checkFailures(service: TestService, prefix: "py" | "go"): Promise<void> {
  const sent = await service.send([
    { name: `${prefix}/fails`, data: {} },
    { name: `${prefix}/gives-up`, data: {} },
  ]);
  const [fails, givesUp] = await Promise.all(sent.body.ids.map((id: string) => endedRun(service, id)));
  assert.deepEqual([fails.status, fails.attempts.filter(({ stepId }: { stepId: string | null }) => stepId !== null).length], ["failed", 2]);
  assert.deepEqual([givesUp.status, givesUp.attempts.length], ["failed", 1], JSON.stringify(givesUp).slice(0, 2_000));
  assert.match(givesUp.error.message, /no use/);
}
