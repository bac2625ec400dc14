/**
 * A drill sends a webhook of all branches what its provider may send, signed with the webhook's own secret, and reports what became of
 * it: a webhook and functions in order pass, a function that runs once for each copy of an event is named, and nothing reaches any other
 * environment. It can be repeated.
 */

import assert from "node:assert/strict";
import { test as onSqlite, type TestContext } from "node:test";
import { DRILL_KINDS, type DrillEntry, type DrillKind, type JobDetailsView } from "@inlet/protocol";
import { PROVIDERS, type Provider, readProviderFixtures, readProviderTransform } from "@inlet/providers";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { until } from "./support/runs.ts";
import { type ServiceClient, startTestService } from "./support/service.ts";

const BRANCH = "feature/cart";
const SECRET = "whsec_c2FtcGxlIHNlY3JldCBvZiBhIHByb3ZpZGVy";
const OF_BRANCH = { "x-service-env": BRANCH };

interface ShownWebhook {
  id: string;
  url: string;
}

async function makeWebhook(service: ServiceClient, provider: string, given: object = {}): Promise<ShownWebhook> {
  const { verify, handshake, answer = null } = PROVIDERS.find(({ id }) => id === provider) as Provider;
  const settings = { verify: verify && { ...verify, secrets: [SECRET] }, handshake, answer };
  const body = { name: `a ${provider}`, environment: "branch", transform: await readProviderTransform(provider), ...settings, ...given };
  const made = await service.rest("POST", "/webhooks", { body });
  assert.equal(made.status, 201, made.text);
  return made.body.data;
}

function begin(service: ServiceClient, { id }: ShownWebhook, body: object) {
  return service.rest("POST", `/webhooks/${id}/drill`, { body });
}

async function drill(service: ServiceClient, webhook: ShownWebhook, kinds?: readonly DrillKind[]): Promise<JobDetailsView> {
  const begun = await begin(service, webhook, { environment: BRANCH, ...(kinds && { kinds }) });
  assert.equal(begun.status, 202, begun.text);
  assert.deepEqual([begun.body.data.kind, begun.body.data.report], ["webhooks.drill", []]);
  return until("the end of the drill", async () => {
    const { body } = await service.rest("GET", `/jobs/${begun.body.data.id}`, { headers: OF_BRANCH });
    return body.data.endedAt === null ? undefined : body.data;
  });
}

function differences({ report }: JobDetailsView): DrillEntry[] {
  return (report ?? []).filter(({ ok }) => !ok);
}

function ofKind({ report }: JobDetailsView, kind: DrillKind): DrillEntry[] {
  return (report ?? []).filter((entry) => entry.kind === kind);
}

async function countIn(service: ServiceClient, environment: string): Promise<number> {
  return (await service.rest("GET", "/events?name=stripe/*&limit=100", { headers: { "x-service-env": environment } })).body.data.length;
}

/** Functions in the branch: one that does its work, and one that fails. */
async function startScene(t: TestContext): Promise<ServiceClient> {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: BRANCH, kind: "branch" } });
  await startApp(
    t,
    service,
    (inlet) => [
      inlet.createFunction({ id: "charge" }, { event: "stripe/*" }, async ({ step }) => step.run("charge", () => "charged")),
      inlet.createFunction({ id: "limited", rateLimit: { limit: 100, period: "1m" } }, { event: "limited/*" }, () => "done"),
      inlet.createFunction({ id: "broken", retries: 0 }, { event: "stripe/*" }, () => {
        throw new Error("it is broken");
      }),
    ],
    { environment: BRANCH },
  );
  return service;
}

test("a drill passes a webhook that is in order, again and again, and names a function that runs twice for one event; it waits for starts", async (t) => {
  const service = await startScene(t);
  const webhook = await makeWebhook(service, "stripe");
  const samples = await readProviderFixtures("stripe");
  const first = await drill(service, webhook);
  assert.deepEqual([first.status, first.errors, differences(first)], ["completed", [], []]);
  assert.deepEqual([first.done, first.report?.length], [samples.length * DRILL_KINDS.length, samples.length * DRILL_KINDS.length]);
  const functions = [
    { id: "shop-broken", runs: 1, failed: true },
    { id: "shop-charge", runs: 1, failed: false },
  ];
  const expected: Record<DrillKind, object> = {
    samples: { status: 200, events: 1 },
    duplicates: { status: 200, events: 0 },
    disorder: { status: 200, events: 0 },
    retries: { status: 200, events: 0 },
    forged: { status: 401, events: 0 },
    malformed: { status: 400, events: 0 },
  };
  for (const { kind, ...entry } of first.report ?? []) {
    assert.deepEqual([entry.expected, entry.happened], [expected[kind], expected[kind]], kind);
    const ran = entry.functions.toSorted((one, other) => one.id.localeCompare(other.id));
    assert.deepEqual(ran, kind === "forged" || kind === "malformed" ? [] : functions, kind);
  }
  assert.equal(await countIn(service, BRANCH), samples.length);
  assert.equal(await countIn(service, "branch"), 0);
  assert.equal(await countIn(service, "production"), 0);
  const recorded = await service.rest("GET", `/webhooks/${webhook.id}/requests?limit=100`);
  assert.equal(recorded.body.data.length, first.report?.length, "every request is recorded");

  const again = await drill(service, webhook);
  assert.deepEqual(differences(again), []);
  assert.deepEqual(
    ofKind(again, "samples").map(({ expected: { events } }) => events),
    samples.map(() => 0),
    "the environment has them already",
  );

  const careless = await makeWebhook(service, "stripe", {
    transform: "function transform(evt) { return { name: 'stripe/' + evt.type, data: evt }; }",
  });
  const found = await drill(service, careless);
  assert.equal(found.status, "completed");
  assert.deepEqual(
    new Set(differences(found).map(({ kind }) => kind)),
    new Set(["duplicates", "disorder", "retries"]),
    "each copy became an event",
  );
  for (const { happened, functions: ran } of ofKind(found, "duplicates")) {
    assert.deepEqual(happened, { status: 200, events: 1 });
    assert.equal(ran.find(({ id }) => id === "shop-charge")?.runs, 2, "it would have charged twice");
  }
  assert.equal(found.failed, differences(found).length);
  assert.match(found.errors[0]?.message ?? "", /^duplicates: expected 200 and no new event, got 200 and one new event$/);

  // The start of a function with a rate limit is decided when the time of the event has come.
  const later = await makeWebhook(service, "stripe", {
    transform: "function transform(evt) { return { name: 'limited/' + evt.type, data: evt, ts: Date.now() + 2_000 }; }",
  });
  const waited = await drill(service, later, ["samples"]);
  assert.equal(waited.report?.length, samples.length);
  for (const entry of waited.report ?? []) assert.deepEqual(entry.functions, [{ id: "shop-limited", runs: 1, failed: false }]);
});

test("without samples of a provider, the last recorded requests are used; a webhook that verifies nothing does not pass", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: BRANCH, kind: "branch" } });
  const transform = "function transform(evt) { return { name: 'own/thing', id: 'own-' + evt.id, data: evt }; }";
  const webhook = await makeWebhook(service, "stripe", { transform, verify: null });
  const none = await begin(service, webhook, { environment: BRANCH });
  assert.deepEqual([none.status, none.body.code], [400, "request_invalid"]);
  assert.match(none.body.error, /has no samples/);
  for (const [body, type] of [
    ['{"id":1}', "application/json"],
    ["id=2", "application/x-www-form-urlencoded"],
    ['{"id":1}', "application/json"],
    ["{", "application/json"],
  ] as const) {
    await fetch(webhook.url, { method: "POST", body, headers: { "content-type": type } });
  }
  for (const expected of [1, 0]) {
    const job = await drill(service, webhook);
    assert.deepEqual(
      ofKind(job, "samples").map((entry) => [entry.expected.events, entry.ok, entry.sent.contentType]),
      [
        [expected, true, "application/json"],
        [expected, true, "application/x-www-form-urlencoded"],
      ],
      "each of them once, also when the drill itself has been recorded",
    );
    assert.deepEqual(new Set(differences(job).map(({ kind }) => kind)), new Set(["forged"]));
    assert.deepEqual(
      ofKind(job, "forged").map((entry) => [entry.expected.status, entry.happened.status]),
      [
        [401, 200],
        [401, 200],
      ],
    );
  }
  const alone = await drill(service, webhook, ["retries"]);
  assert.deepEqual(
    alone.report?.map(({ kind, sent, expected }) => [kind, sent.copy, expected.events]),
    [1, 2, 1, 2].map((copy) => ["retries", copy, 0]),
    "each kind can be asked for alone",
  );
});

onSqlite("samples of every scheme are accepted when signed, refused when forged, and refused when malformed", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: BRANCH, kind: "branch" } });
  const schemes = new Map<string, Provider>();
  for (const provider of PROVIDERS) {
    if (!provider.verify) continue;
    const { scheme, signed = "", timestampHeader } = provider.verify;
    schemes.set(`${scheme} ${signed.replace("{raw}", "")} ${timestampHeader !== undefined}`, provider);
  }
  assert.ok(schemes.size > 10);
  for (const [scheme, { id }] of schemes) {
    // An address of its own, and a time that is hardly tolerated.
    const ips = { mode: "allow", list: ["192.0.2.0/24"] };
    const verify = {
      ...(PROVIDERS.find((one) => one.id === id) as Provider).verify,
      secrets: [SECRET, "an older one"],
      toleranceSeconds: 5,
    };
    const webhook = await makeWebhook(service, id, { ips, verify });
    const job = await drill(service, webhook, ["samples", "retries", "forged", "malformed"]);
    const bad = differences(job).filter(({ kind }) => kind !== "retries");
    assert.deepEqual(bad, [], `${id}: ${scheme} ${JSON.stringify(job.errors)}`);
    assert.ok(ofKind(job, "retries").every(({ happened }) => happened.status === 200));
    assert.equal(ofKind(job, "samples").length, (await readProviderFixtures(id)).length, "those of its own provider");
  }
});

test("only webhooks of branch are drilled, in a branch environment, by whoever may repair; each drill is in the audit log", async (t) => {
  const service = await startTestService(t);
  for (const [name, kind] of [
    [BRANCH, "branch"],
    ["feature/old", "branch"],
    ["staging", "custom"],
  ])
    await service.rest("POST", "/environments", { body: { name, kind } });
  await service.rest("POST", "/environments/feature%2Fold/archive");
  const webhook = await makeWebhook(service, "stripe");
  const ordinary = await makeWebhook(service, "stripe", { environment: "production" });
  const waiting = await makeWebhook(service, "stripe", { verify: { scheme: "stripe" } });
  const disabled = await makeWebhook(service, "stripe", { enabled: false });
  const refused = async (target: ShownWebhook, body: object, headers: Record<string, string> = {}) => {
    const answer = await service.rest("POST", `/webhooks/${target.id}/drill`, { body, headers });
    return [answer.status, answer.body.code];
  };
  assert.deepEqual(await refused(ordinary, { environment: BRANCH }), [400, "request_invalid"]);
  assert.deepEqual(await refused(waiting, { environment: BRANCH }), [400, "request_invalid"]);
  assert.deepEqual(await refused(disabled, { environment: BRANCH }), [400, "request_invalid"]);
  for (const environment of ["production", "staging", "branch", "feature/old"])
    assert.deepEqual(await refused(webhook, { environment }), [400, "request_invalid"], environment);
  for (const body of [{}, { environment: BRANCH, kinds: [] }, { environment: BRANCH, kinds: ["others"] }, { environment: BRANCH, more: 1 }])
    assert.deepEqual(await refused(webhook, body), [400, "request_invalid"], JSON.stringify(body));
  assert.deepEqual(await refused(webhook, { environment: "feature/none" }), [404, "environment_not_found"]);
  assert.deepEqual(await refused({ ...webhook, id: "wh_none" }, { environment: BRANCH }), [404, "webhook_not_found"]);
  const posted = await service.rest("POST", "/jobs", { body: { kind: "webhooks.drill", filter: { webhook: webhook.id } } });
  assert.equal(posted.status, 400, "it has a route of its own");

  const keyOf = async (role: string, environments?: string[]) => {
    const { body } = await service.rest("POST", "/keys", {
      body: { kind: "api", name: role, role, ...(environments && { environments }) },
    });
    return { authorization: `Bearer ${body.data.key}` };
  };
  assert.deepEqual(await refused(webhook, { environment: BRANCH }, await keyOf("viewer")), [403, "role_forbidden"]);
  const ofStaging = await keyOf("admin", ["staging"]);
  assert.deepEqual(await refused(webhook, { environment: "staging" }, ofStaging), [404, "webhook_not_found"]);
  const operator = await keyOf("operator", ["branch"]);
  assert.deepEqual(await refused(webhook, { environment: "production" }, operator), [403, "environment_forbidden"]);
  assert.equal((await refused(webhook, { environment: BRANCH, kinds: ["forged"] }, operator))[0], 202);

  const job = await drill(service, webhook, ["samples"]);
  const found = async (headers: Record<string, string>) => (await service.rest("GET", `/jobs/${job.id}`, { headers })).status;
  for (const headers of [OF_BRANCH, { "x-service-env": "branch" }, {}]) assert.equal(await found(headers), 200, JSON.stringify(headers));
  for (const headers of [
    { "x-service-env": "production" },
    { "x-service-env": "feature/old" },
    { ...ofStaging, "x-service-env": "staging" },
  ])
    assert.equal(await found(headers), 404, JSON.stringify(headers));
  const log = (await service.rest("GET", "/audit-log?limit=20")).body.data;
  const entry = log.find(({ details }: { details: { job?: string } }) => details.job === job.id);
  assert.deepEqual([entry.action, entry.environment, entry.target.id], ["webhook.drilled", BRANCH, webhook.id]);
});
