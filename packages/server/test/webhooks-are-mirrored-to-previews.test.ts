/** A webhook of one environment can mirror its events to branches: marked, in the share asked for, never counted twice, off by default. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { startInlet } from "./support/process.ts";
import { until } from "./support/runs.ts";
import { API_KEY, call, EVENT_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const NAMED = "(evt) => ({ name: 'shop/order', data: evt, id: evt.id })";

/** Copies are made after the response: waits for so many. */
function eventsIn(service: TestService, environment: string, count: number) {
  return until(`${count} events in ${environment}`, async () => {
    const { body } = await service.rest("GET", "/events?limit=100", { headers: { "x-service-env": environment } });
    return body.data.length >= count ? body.data : undefined;
  });
}

test("copies go to the branches named, marked, and the original counts once", async (t) => {
  const service = await startTestService(t);
  for (const name of ["feature/a", "feature/b", "other"]) await service.rest("POST", "/environments", { body: { name, kind: "branch" } });
  const webhook = await makeWebhook(service, NAMED, { mirror: { to: ["feature/*"] } });
  assert.equal((await post(webhook.url, { id: "o-1", n: 1 })).status, 200);
  assert.equal((await post(webhook.url, { id: "o-1", n: 1 })).status, 200, "the provider sends it again");
  for (const name of ["feature/a", "feature/b"]) {
    const [copy, ...more] = await eventsIn(service, name, 1);
    assert.deepEqual(
      [copy.source, copy.data, more],
      [{ kind: "webhook", id: webhook.id, name: "test hook", mirrored: true }, { id: "o-1", n: 1 }, []],
    );
  }
  assert.deepEqual(await eventsIn(service, "other", 0), []);
  const [original] = await eventsIn(service, "production", 1);
  assert.equal(original.source.mirrored, undefined);
  const records = await requestsOf(service, webhook);
  assert.equal(records.length, 2);
  assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/requests/${records[0].id}/replay`)).status, 201);
  assert.equal((await eventsIn(service, "feature/a", 1)).length, 1, "a replay is not mirrored");
});

test("a share of the events is mirrored; a webhook of all branches cannot mirror", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "feature/a", kind: "branch" } });
  const webhook = await makeWebhook(service, NAMED, { mirror: { to: ["feature/a"], sample: 0.5 } });
  await Promise.all(Array.from({ length: 60 }, (_, n) => post(webhook.url, { id: `o-${n}` })));
  const some = (await eventsIn(service, "feature/a", 12)).length;
  assert.ok(some >= 12 && some <= 48, `${some} of 60`);
  const create = (body: object) => service.rest("POST", "/webhooks", { body: { name: "w", transform: NAMED, ...body } });
  for (const mirror of [{ to: [] }, { to: ["a"], sample: 0 }, { to: ["a"], sample: 2 }, { to: ["a b"] }, {}]) {
    assert.equal((await create({ mirror })).status, 400, JSON.stringify(mirror));
  }
  assert.equal((await create({ mirror: { to: ["a"] }, environment: "branch" })).status, 400);
  assert.equal(((await makeWebhook(service, NAMED)) as { mirror?: unknown }).mirror, null, "off by default");
});

test("a crash loses no copy and makes none twice", async (t) => {
  const { flags: store, passLeases } = await storeFlags(t, { dataDir: temporaryFolder(t) });
  const flags = ["--port", "0", "--host", "127.0.0.1", ...store, "--event-key", EVENT_KEY, "--api-key", API_KEY];
  const start = () => startInlet(t, ["start", ...flags, "--log-level", "error"]);
  let doomed = await start();
  const rest = async (method: string, path: string, { body, environment = "production" }: { body?: object; environment?: string } = {}) => {
    const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json", "x-service-env": environment };
    return (await call(`${doomed.url}/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).body.data;
  };
  for (const name of ["feature/a", "feature/b"]) await rest("POST", "/environments", { body: { name, kind: "branch" } });
  const { url } = await rest("POST", "/webhooks", { body: { name: "w", transform: NAMED, mirror: { to: ["feature/*"] } } });
  let accepted = 0;
  for (let round = 0; round < 2; round++) {
    const answers = Array.from({ length: 25 }, (_, n) =>
      call(`${doomed.url}${new URL(url).pathname}`, { method: "POST", body: JSON.stringify({ id: `o-${round}-${n}` }) }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    // Killed right after the first response, while copies of those that were accepted are still to be made.
    await Promise.any(answers.map((one) => one.then((isAccepted) => isAccepted || Promise.reject())));
    await doomed.end("SIGKILL");
    accepted += (await Promise.all(answers)).filter(Boolean).length;
    await passLeases();
    doomed = await start();
  }
  const ids = async (environment: string) =>
    (await rest("GET", "/events?limit=100", { environment })).map((event: { data: { id: string }; duplicates: number }) => {
      assert.equal(event.duplicates, 0);
      return event.data.id;
    });
  const originals = (await ids("production")).sort();
  assert.ok(accepted > 0 && originals.length >= accepted, `${originals.length} of ${accepted}`);
  for (const environment of ["feature/a", "feature/b"]) {
    await until(`every copy in ${environment}`, async () => ((await ids(environment)).length >= originals.length ? true : undefined));
    assert.deepEqual((await ids(environment)).sort(), originals);
  }
});
