/** The quotas of an environment refuse what exceeds them, whole, on every way in; duplicates and internal events use nothing. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import { awayFromMidnight } from "./support/away-from-midnight.ts";
import { test } from "./support/both-stores.ts";
import { type Node, startNode } from "./support/nodes.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { type Answer, type ServiceClient, startTestService, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const NOON = Date.UTC(2030, 5, 15, 12);
const DAY_MS = 86_400_000;
const MIDNIGHT = Date.UTC(2030, 5, 16);
const NONE = { eventsPerSecond: null, eventsPerDay: null, bytesPerDay: null, callsAtOnce: null, storedBytes: null };
const event = (id?: string) => ({ name: "shop/order", data: {}, ...(id !== undefined && { id }) });

async function setQuotas(service: ServiceClient, quotas: object): Promise<Answer> {
  const answer = await service.rest("PUT", "/environments/production", { body: { quotas } });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

async function stateOf(service: ServiceClient) {
  const { quotas, usage } = (await service.rest("GET", "/environments/production")).body.data;
  return { quotas, usage };
}

/** Of a refusal by a daily quota, in a test that is away from midnight. */
const endsWithTheDay = ({ headers }: Answer) => Number(headers.get("retry-after")) > 60;
const countOf = async (service: ServiceClient) => (await service.rest("GET", "/events?limit=100")).body.data.length;

test("each quota refuses what exceeds it, whole, and resets", async (t) => {
  let now = NOON;
  const service = await startTestService(t, { now: () => now });
  assert.deepEqual((await stateOf(service)).quotas, NONE);
  assert.deepEqual((await setQuotas(service, { eventsPerSecond: 3 })).body.data.quotas, { ...NONE, eventsPerSecond: 3 });
  assert.equal((await service.send([event(), event(), event()])).status, 200);
  now += 999;
  const refused = await service.send(event());
  assert.deepEqual([refused.status, refused.body.code, refused.headers.get("retry-after")], [429, "quota_exceeded", "1"]);
  const resetsAt = new Date(NOON + 1_000).toISOString();
  assert.deepEqual(refused.body.details, [{ quota: "eventsPerSecond", limit: 3, used: 3, resetsAt }]);
  now += 1;
  assert.equal((await service.send(event())).status, 200);
  const never = await service.send([event(), event(), event(), event()]);
  assert.deepEqual([never.status, never.body.code, never.headers.get("retry-after")], [429, "quota_exceeded", "1"]);
  assert.match(
    never.body.error,
    /can never be accepted as it is: its 4 new events alone exceed the quota eventsPerSecond .* which is 3\. Send less/,
  );

  now += 5_000;
  await setQuotas(service, { eventsPerSecond: null, eventsPerDay: 6 });
  const whole = await service.send([event(), event(), event()]);
  const tomorrow = new Date(MIDNIGHT).toISOString();
  assert.deepEqual(whole.body.details, [{ quota: "eventsPerDay", limit: 6, used: 4, resetsAt: tomorrow }]);
  assert.equal(Number(whole.headers.get("retry-after")), (MIDNIGHT - now) / 1_000);
  assert.equal(await countOf(service), 4);
  assert.equal((await service.send([event("a"), event("b"), event("a")])).status, 200);
  assert.equal((await stateOf(service)).usage.eventsPerDay, 6);
  const again = await service.send([event("a"), event("b")]);
  assert.equal(again.status, 200, "duplicates use no quota");
  assert.equal((await service.send([event("a"), event("c")])).status, 429);
  now = MIDNIGHT;
  assert.equal((await service.send(event("c"))).status, 200);

  const body = JSON.stringify(event());
  const used = (await stateOf(service)).usage.bytesPerDay;
  assert.equal(used, JSON.stringify(event("c")).length);
  await setQuotas(service, { eventsPerDay: null, bytesPerDay: used + body.length });
  assert.equal((await service.send(body)).status, 200);
  const full = await service.send(body);
  const limit = used + body.length;
  assert.deepEqual(full.body.details, [{ quota: "bytesPerDay", limit, used: limit, resetsAt: new Date(MIDNIGHT + DAY_MS).toISOString() }]);
  assert.equal((await service.send(event("c"))).status, 200, "duplicates use no bytes");
  const { usage } = await stateOf(service);
  assert.deepEqual([usage.eventsPerSecond, usage.eventsPerDay, usage.bytesPerDay], [2, 2, limit]);
});

test("every way in is bound, refused webhook requests have no body, and nobody else is", async (t) => {
  await awayFromMidnight();
  const service = await startTestService(t);
  const webhook = await makeWebhook(service);
  await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
  await setQuotas(service, { eventsPerDay: 1 });
  assert.equal((await post(webhook.url, { first: true })).status, 200);
  const hook = await post(webhook.url, { secret: "over" });
  assert.deepEqual([hook.status, hook.body.code], [429, "quota_exceeded"]);
  const [last, first] = await requestsOf(service, webhook);
  assert.deepEqual([last.status, last.outcome], [429, "quota_exceeded"]);
  const detail = async (id: string) => (await service.rest("GET", `/webhooks/${webhook.id}/requests/${id}`)).body.data.body;
  assert.equal(await detail(last.id), null);
  assert.notEqual(await detail(first.id), null);
  const sent = await service.rest("POST", "/events", { body: event() });
  assert.deepEqual([sent.status, sent.body.code, sent.body.details[0].used], [429, "quota_exceeded", 1]);
  assert.ok(endsWithTheDay(sent), String(sent.headers.get("retry-after")));
  const other = await service.rest("POST", "/events", { body: event(), headers: { "x-service-env": "staging" } });
  assert.equal(other.status, 201, other.text);
  const replayed = await service.rest("POST", `/webhooks/${webhook.id}/requests/${first.id}/replay`);
  assert.deepEqual([replayed.status, replayed.body.code], [429, "quota_exceeded"]);
  assert.ok(endsWithTheDay(replayed), String(replayed.headers.get("retry-after")));
  assert.equal(await countOf(service), 1);
  const rule = await service.rest("POST", "/alert-rules", { body: { name: "nearly full", kind: "quota_used", threshold: 80 } });
  assert.equal(rule.status, 201, rule.text);
  const alert = await until("the alert", async () => (await service.rest("GET", "/alerts")).body.data[0]);
  assert.deepEqual([alert.kind, alert.value], ["quota_used", 100]);
});

test("what is not a quota is refused, and changes are in the audit log", async (t) => {
  const service = await startTestService(t);
  const fault = async (quotas: object) =>
    (await service.rest("PUT", "/environments/production", { body: { quotas } })).body.details?.[0]?.field;
  assert.equal(await fault({ eventsPerDay: 0 }), "quotas.eventsPerDay");
  assert.equal(await fault({ eventsPerDay: 1.5 }), "quotas.eventsPerDay");
  assert.equal(await fault({ eventsPerDay: "5" }), "quotas.eventsPerDay");
  assert.equal(await fault({ eventsPerDay: 2 ** 60 }), "quotas.eventsPerDay");
  assert.equal(await fault({ eventsPerMonth: 5 }), "quotas.eventsPerMonth");
  await setQuotas(service, { storedBytes: 1_000_000, callsAtOnce: null });
  const { body } = await service.rest("GET", "/audit-log?limit=1");
  assert.deepEqual(body.data[0].details, { quotas: { storedBytes: 1_000_000, callsAtOnce: null } });
});

test("many senders at once never exceed a quota, and a crash forgets nothing of it", async (t) => {
  await awayFromMidnight();
  const { flags: store, databaseUrl } = await storeFlags(t, { dataDir: temporaryFolder(t) });
  const flags = databaseUrl === undefined ? store : ["--database-url", databaseUrl];
  const first = await startNode(t, flags);
  await setQuotas(first, { eventsPerDay: 80 });
  const many = (node: Node, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => node.send(n % 2 ? [event(), event()] : event(`id-${n % 10}`))));
  const before = await many(first, 20);
  await first.end("SIGKILL");
  assert.ok(before.every(({ status }) => status === 200));
  const second = await startNode(t, flags);
  assert.equal((await stateOf(second)).usage.eventsPerDay, 25);
  const after = await many(second, 100);
  assert.deepEqual([...new Set(after.map(({ status }) => status))].sort(), [200, 429]);
  assert.ok(
    after.every(({ status }, n) => n % 2 === 1 || status === 200),
    "duplicates use no quota",
  );
  await second.send(event());
  assert.equal((await second.send(event())).status, 429);
  assert.equal((await stateOf(second)).usage.eventsPerDay, 80);
  assert.equal(await countOf(second), 80);
});

test("stored bytes beyond their quota go oldest first, and nobody else's", async (t) => {
  const service = await startTestService(t, { sweepEveryMs: 200 });
  await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
  const payload = { text: "x".repeat(2_000) };
  const batch = (round: number) => Array.from({ length: 40 }, (_, n) => ({ name: "shop/large", data: { n: round * 40 + n, ...payload } }));
  const other = await service.rest("POST", "/events", { body: batch(0), headers: { "x-service-env": "staging" } });
  assert.equal(other.status, 201);
  const webhook = await makeWebhook(service);
  for (let n = 0; n < 5; n++) await post(webhook.url, payload);
  for (let round = 0; round < 5; round++) assert.equal((await service.send(batch(round))).status, 200);
  const before = (await stateOf(service)).usage.storedBytes;
  assert.ok(before > 400_000, `${before} bytes`);
  const limit = 200_000;
  await setQuotas(service, { storedBytes: limit });
  const left = await until("the oldest are gone", async () => {
    const { storedBytes } = (await stateOf(service)).usage;
    return storedBytes <= limit ? storedBytes : undefined;
  });
  assert.ok(left >= 0.8 * limit, `${left} bytes are left`);
  const kept = (await service.rest("GET", "/events?name=shop/large&limit=100")).body.data.map((one: { data: { n: number } }) => one.data.n);
  assert.ok(kept.length >= 80, `${kept.length} events`);
  const oldest = Math.min(...kept);
  assert.deepEqual(
    kept.toSorted((a: number, b: number) => a - b),
    Array.from({ length: 200 - oldest }, (_, n) => oldest + n),
    "the newest",
  );
  const theirs = await service.rest("GET", "/events?limit=100", { headers: { "x-service-env": "staging" } });
  assert.equal(theirs.body.data.length, 40);
});

testOnce("two nodes share a quota: never more, and at most a tenth less", { skip: whyNoPostgres() ?? false }, async (t) => {
  await awayFromMidnight();
  const url = await migratedDatabase(t);
  const flags = ["--database-url", url];
  const [one, two] = [await startNode(t, flags), await startNode(t, flags)];
  const sees = async (node: Node) => (await stateOf(node)).quotas.eventsPerDay === 1_000 || undefined;
  await setQuotas(one, { eventsPerDay: 1_000 });
  await until("the other node knows the quota", () => sees(two));
  // The first began alone, and leases once it knows of the other.
  const leases = () => inDatabase(url, (client) => client.query("SELECT leased FROM quota_leases"));
  await until("the first node leases", async () => {
    await one.send(event());
    return (await leases()).rowCount || undefined;
  });
  const flood = async (node: Node) => {
    let accepted = 0;
    for (let round = 0; round < 30; round++) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => node.send([event(), event(), event()])));
      accepted += answers.filter(({ status }) => status === 200).length;
    }
    return accepted;
  };
  const [byOne, byTwo] = await Promise.all([flood(one), flood(two)]);
  const { usage } = await stateOf(one);
  assert.ok(byOne > 0 && byTwo > 0, `${byOne} and ${byTwo} requests`);
  assert.ok(usage.eventsPerDay <= 1_000 && usage.eventsPerDay >= 900, `${usage.eventsPerDay} events`);
});

testOnce(
  "two nodes that share a quota keep to a lower one at once, and what one of them held is there for the other",
  {
    skip: whyNoPostgres() ?? false,
  },
  async (t) => {
    await awayFromMidnight();
    const url = await migratedDatabase(t);
    const [one, two] = [await startNode(t, ["--database-url", url]), await startNode(t, ["--database-url", url])];
    const limit = async (eventsPerDay: number) => {
      await setQuotas(one, { eventsPerDay });
      await until("the other node knows", async () => (await stateOf(two)).quotas.eventsPerDay === eventsPerDay || undefined);
    };
    const leased = async () => Number((await inDatabase(url, (client) => client.query("SELECT leased FROM quota_leases"))).rows[0]?.leased);
    await limit(10_000);
    let sent = 0;
    await until("the first node leases its share", async () => {
      assert.equal((await one.send(event())).status, 200);
      return ++sent && (await leased()) > sent + 20 ? true : undefined;
    });
    await limit(sent);
    assert.equal((await one.send(event())).status, 429);
    await limit(10_000);
    await until("the first node leases again", async () => {
      assert.equal((await one.send(event())).status, 200);
      return ++sent && (await leased()) > sent + 20 ? true : undefined;
    });
    await limit(sent + 2);
    await until("what the first node held is given back", async () => (await leased()) === sent || undefined);
    assert.deepEqual([(await two.send([event(), event()])).status, (await two.send(event())).status], [200, 429]);
  },
);
