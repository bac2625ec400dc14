import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebhookId, WebhookRequestId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import {
  type Environment,
  type EventCursor,
  type NewWebhookRequest,
  NO_SECRETS,
  type Store,
  type Webhook,
  type WebhookChanges,
  type WebhookRequest,
} from "../contract/index.ts";

export function makeWebhook(store: Store, environment: Environment, id = "wh_1"): Promise<Webhook> {
  return store.webhookInsert({
    id: id as WebhookId,
    environmentId: environment.id,
    name: "hook",
    token: `token of ${id}`,
    transform: "first",
    eventNames: null,
    ips: { mode: "deny", list: ["10.0.0.0/8"] },
    verify: null,
    handshake: null,
    answer: null,
    mirror: null,
    reconcile: null,
    secrets: NO_SECRETS,
    enabled: true,
    createdAt: 1,
  });
}

export function sampleRequest(webhook: Webhook, n: number, changes: Partial<NewWebhookRequest> = {}): NewWebhookRequest {
  return {
    id: `req_${n}` as WebhookRequestId,
    webhookId: webhook.id,
    environmentId: webhook.environmentId,
    receivedAt: 1_000 + n,
    ip: "127.0.0.1",
    method: "POST",
    headers: '["X-A","1","x-a","\u00e9"]',
    query: "{a=%20&a",
    contentType: "application/json",
    body: "{}",
    bodyBase64: null,
    status: 400,
    outcome: "transform_failed",
    error: "it threw",
    deliveredTo: webhook.environmentId,
    transformVersion: 1,
    durationMs: 0.5,
    logs: "[]",
    verifiedAt: null,
    isReconciled: false,
    bodyKey: null,
    ...changes,
  };
}

export function webhookConformance(engine: Engine): void {
  test(`${engine.name}: how a webhook is reconciled is kept with its secrets, which go when it goes`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const { id, environmentId } = await makeWebhook(store, environment);
    const reconcile = { preset: "github", every: "90s", lookBack: "1h", setAt: 5, options: { repository: "a/b", hook: "1" } };
    const update = (changes: WebhookChanges) => store.webhookUpdate({ environmentId, id, changes, updatedAt: 6 });
    await update({ reconcile, secrets: { reconcile: ["ghp_1"] } });
    await update({ reconcile: { ...reconcile, setAt: 7 }, verify: null });
    const [webhook] = await (await reopen()).webhookList();
    assert.deepEqual([webhook?.reconcile, webhook?.secrets.reconcile], [{ ...reconcile, setAt: 7 }, ["ghp_1"]]);
  });

  test(`${engine.name}: taking reconcile away takes its secrets with it`, async (t) => {
    const { store } = await engine.open(t);
    const { id, environmentId } = await makeWebhook(store, await makeEnvironment(store));
    const reconcile = { source: "…", every: "15m", lookBack: "72h", setAt: 5, options: {} };
    const update = (changes: WebhookChanges) => store.webhookUpdate({ environmentId, id, changes, updatedAt: 6 });
    await update({ reconcile, secrets: { reconcile: ["s"] } });
    const updated = await update({ reconcile: null });
    assert.deepEqual([updated?.reconcile, updated?.secrets], [null, NO_SECRETS]);
  });

  test(`${engine.name}: another source gets no stored secrets, even if they were set while the change was checked`, async (t) => {
    const { store } = await engine.open(t);
    const { id, environmentId } = await makeWebhook(store, await makeEnvironment(store));
    const update = (changes: WebhookChanges) => store.webhookUpdate({ environmentId, id, changes, updatedAt: 6 });
    const stripe = { preset: "stripe", every: "15m", lookBack: "72h", setAt: 5, options: {} };
    const shop = { ...stripe, preset: "shopify", options: { shop: "one.myshopify.com" } };
    const owned = { reconcile: shop, handshake: { source: "one" } };
    const secrets = { reconcile: ["key"], handshake: ["token"] };
    const secretsAfter = async (changes: WebhookChanges) => {
      await update({ ...owned, secrets });
      const changed = await update(changes);
      return [changed?.secrets.reconcile, changed?.secrets.handshake];
    };
    const { preset: _, ...bySource } = { ...stripe, source: "…" };
    for (const reconcile of [
      stripe,
      bySource,
      { ...shop, options: { shop: "two.myshopify.com" } },
      { ...shop, options: { ...shop.options, baseUrl: "http://other" } },
    ]) {
      assert.deepEqual(await secretsAfter({ reconcile }), [[], ["token"]], JSON.stringify(reconcile));
    }
    assert.deepEqual(await secretsAfter({ handshake: { source: "two" } }), [["key"], null]);
    assert.deepEqual(await secretsAfter({ reconcile: { ...shop, every: "1h", setAt: 9 }, handshake: { source: "one" } }), [
      ["key"],
      ["token"],
    ]);
    const others = { reconcile: ["other key"], handshake: ["other token"] };
    assert.deepEqual(await secretsAfter({ reconcile: bySource, handshake: { source: "two" }, secrets: others }), [
      ["other key"],
      ["other token"],
    ]);
  });

  test(`${engine.name}: refused requests with the content of an erased one are erased with it, and no others`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const [webhook, other] = [await makeWebhook(store, environment), await makeWebhook(store, environment, "wh_2")];
    const said = '{"who":"\u00e9\u0000"}';
    const inBase64 = { body: "read in another way", bodyBase64: Buffer.from(said).toString("base64") };
    const [text, empty] = [{ body: said }, { body: "", query: "who=one" }];
    const accept = (n: number, changes: Partial<NewWebhookRequest>) =>
      store.eventAppend(sampleBatch(environment, [sampleEvent()], { webhookRequest: sampleRequest(webhook, n, changes) }));
    for (const [n, changes] of [text, inBase64, empty].entries()) await accept(n, changes);
    const refused: [Webhook, Partial<NewWebhookRequest>, "erased" | "kept"][] = [
      [webhook, text, "erased"],
      [webhook, { ...text, query: "again" }, "erased"],
      [webhook, { ...inBase64, isReconciled: true, bodyKey: "k" }, "erased"],
      [webhook, empty, "erased"],
      [webhook, { ...empty, query: "who=two" }, "kept"],
      [webhook, { body: said.replace("who", "why") }, "kept"],
      [other, text, "kept"],
    ];
    for (const [at, [of, changes]] of refused.entries()) await store.webhookRequestInsert(sampleRequest(of, 10 + at, changes));
    const { events } = await store.eventList({ environmentId: environment.id, limit: 10 });
    const sequences = events.map(({ sequence }) => sequence);
    await store.eventErase({ environmentId: environment.id, sequences, gatheringWithout: () => null });
    for (const [at, [of, , outcome]] of refused.entries()) {
      const id = `req_${10 + at}` as WebhookRequestId;
      const record = await store.webhookRequestGet({ environmentId: environment.id, webhookId: of.id, id });
      const { body, bodyBase64, bodyKey, error, ip } = record as WebhookRequest;
      const left = [body, bodyBase64, bodyKey, error, ip === ""];
      assert.equal(JSON.stringify(left) === "[null,null,null,null,true]" ? "erased" : "kept", outcome, `${at}: ${left}`);
    }
  });

  test(`${engine.name}: a request is found by its body: the newest of those that made an event, or were refused`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const webhook = await makeWebhook(store, environment);
    const accept = (n: number, changes: Partial<NewWebhookRequest>) => {
      const webhookRequest = sampleRequest(webhook, n, { outcome: "accepted", ...changes });
      return store.eventAppend(sampleBatch(environment, [sampleEvent()], { webhookRequest }));
    };
    const first = await accept(1, { bodyKey: "k" });
    const second = await accept(2, { bodyKey: "k", isReconciled: true });
    await store.webhookRequestInsert(sampleRequest(webhook, 3, { bodyKey: "k", isReconciled: true, transformVersion: 4 }));
    const key = { environmentId: environment.id, webhookId: webhook.id, bodyKey: "k" };
    const find = (isAccepted: boolean, isReceived: boolean) => store.webhookRequestWithBody({ ...key, isAccepted, isReceived });
    const stored = { deliveredTo: environment.id, outcome: "accepted", transformVersion: 1 };
    assert.deepEqual({ ...(await find(true, false)) }, { ...stored, eventId: second.ids[0] });
    assert.deepEqual({ ...(await find(true, true)) }, { ...stored, eventId: first.ids[0] });
    assert.deepEqual({ ...(await find(false, false)) }, { ...stored, eventId: null, outcome: "transform_failed", transformVersion: 4 });
    assert.equal(await find(false, true), null);
    assert.equal(await store.webhookRequestWithBody({ ...key, bodyKey: "other", isAccepted: true, isReceived: false }), null);
    const { requests } = await store.webhookRequestList({ ...key, limit: 10 });
    assert.deepEqual(
      requests.map(({ isReconciled }) => isReconciled),
      [true, true, false],
    );
    const received = await store.webhookRequestList({ ...key, isReceived: true, limit: 1 });
    assert.deepEqual([received.requests.map(({ id }) => id), received.next], [["req_1"], null]);
    const refused = await store.webhookRequestList({ ...key, isReceived: true, outcome: "transform_failed", limit: 1 });
    assert.deepEqual(refused, { requests: [], next: null });
  });

  test(`${engine.name}: a webhook is kept with its lists, changed field by field, and read back`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const made = await makeWebhook(store, await makeEnvironment(store));
    const changed = await store.webhookUpdate({ ...made, changes: { name: "other", ips: null, enabled: false }, updatedAt: 5 });
    assert.deepEqual(changed, { ...made, name: "other", ips: null, enabled: false, updatedAt: 5 });
    assert.deepEqual(await (await reopen()).webhookList(), [changed]);
    assert.equal(await store.webhookUpdate({ ...made, id: "none" as WebhookId, changes: {}, updatedAt: 6 }).catch(() => null), null);
  });

  test(`${engine.name}: settings and secrets are kept, changed field by field, and go with what they belong to`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const made = await makeWebhook(store, await makeEnvironment(store));
    const update = (changes: WebhookChanges) => store.webhookUpdate({ ...made, changes, updatedAt: 5 });
    const verify = { scheme: "hmac", toleranceSeconds: 9, header: "X-Sig", signed: "\u0000{raw}" } as const;
    const whole = {
      verify,
      handshake: { source: "function handshake() {}" },
      answer: { status: 202, contentType: "text/xml", body: "<ok/>" },
      mirror: { to: ["feature/*"], sample: 0.1 },
    };
    const changed = await update({ ...whole, secrets: { verify: ["one", "tw\u00f6"] } });
    assert.deepEqual(changed, { ...made, ...whole, secrets: { ...NO_SECRETS, verify: ["one", "tw\u00f6"] }, updatedAt: 5 });
    assert.deepEqual((await update({ verify: { ...verify, header: "X-Other" } }))?.secrets.verify, ["one", "tw\u00f6"]);
    assert.deepEqual((await update({ handshake: { preset: "meta" }, secrets: { handshake: ["token"] } }))?.secrets.handshake, ["token"]);
    const [read] = await (await reopen()).webhookList();
    assert.deepEqual(read?.secrets, { verify: ["one", "tw\u00f6"], handshake: ["token"], isHandedOver: false, reconcile: [] });
  });

  test(`${engine.name}: secrets go with the setting they belong to, and one that is handed over counts once`, async (t) => {
    const { store } = await engine.open(t);
    const made = await makeWebhook(store, await makeEnvironment(store));
    const update = (changes: WebhookChanges) => store.webhookUpdate({ ...made, changes, updatedAt: 5 });
    const handedOver = (secret: string): WebhookChanges => ({ handedOver: { preset: "asana", secret } });
    await update({ verify: { scheme: "github", toleranceSeconds: 1 }, handshake: { preset: "asana" } });
    assert.deepEqual((await update(handedOver("first")))?.secrets, { ...NO_SECRETS, verify: ["first"], isHandedOver: true });
    assert.deepEqual((await update(handedOver("second")))?.secrets.verify, ["first"]);
    await update({ handshake: { preset: "asana" } });
    assert.deepEqual((await update(handedOver("second")))?.secrets.verify, ["first", "second"]);
    for (const handshake of [{ source: "function handshake() {}" }, { preset: "slack" }, null] as const) {
      await update({ handshake });
      assert.deepEqual(
        (await update(handedOver("third")))?.secrets,
        { ...NO_SECRETS, verify: ["first", "second"] },
        JSON.stringify(handshake),
      );
    }
    assert.deepEqual((await update({ verify: null, handshake: null }))?.secrets, NO_SECRETS);
  });

  test(`${engine.name}: a new text is a new version, an old version can be put in force, a missing one cannot`, async (t) => {
    const { store } = await engine.open(t);
    const { environmentId, id } = await makeWebhook(store, await makeEnvironment(store));
    const update = (changes: { transform?: string; version?: number }) =>
      store.webhookUpdate({ environmentId, id, changes, updatedAt: 5, ...(changes.transform === "third" && { author: "Ada \\ \0" }) });
    const state = (webhook: Webhook | null) => [webhook?.version, webhook?.transform];
    assert.deepEqual(state(await update({ transform: "second" })), [2, "second"]);
    assert.deepEqual(state(await update({ transform: "second" })), [2, "second"]);
    assert.deepEqual(state(await update({ version: 1 })), [1, "first"]);
    assert.deepEqual(state(await update({ transform: "third" })), [3, "third"]);
    assert.equal(await update({ version: 9 }), null);
    const versions = await store.webhookVersionList({ environmentId, id });
    assert.deepEqual(
      versions.map(({ version, transform, author }) => [version, transform, author]),
      [
        [3, "third", "Ada \\ \0"],
        [2, "second", null],
        [1, "first", null],
      ],
    );
  });

  test(`${engine.name}: rotated and deleted webhooks leave their tokens behind`, async (t) => {
    const { store } = await engine.open(t);
    const { environmentId, id } = await makeWebhook(store, await makeEnvironment(store));
    assert.equal((await store.webhookRotate({ environmentId, id, token: "new token", rotatedAt: 5 }))?.token, "new token");
    assert.deepEqual(await store.webhookRetiredTokenList(), [{ token: "token of wh_1", webhookId: id }]);
    assert.equal((await store.webhookDelete({ environmentId, id, deletedAt: 6 }))?.deletedAt, 6);
    assert.equal(await store.webhookDelete({ environmentId, id, deletedAt: 7 }), null);
    assert.equal(await store.webhookRotate({ environmentId, id, token: "x", rotatedAt: 8 }), null);
    assert.deepEqual(
      (await store.webhookList()).map(({ token, deletedAt }) => [token, deletedAt]),
      [["new token", 6]],
    );
  });

  test(`${engine.name}: requests are recorded, found by id, and listed newest first in pages with filters`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const [webhook, other] = [await makeWebhook(store, environment), await makeWebhook(store, environment, "wh_2")];
    for (let n = 0; n < 5; n++)
      await store.webhookRequestInsert(sampleRequest(webhook, n, n === 2 ? { outcome: "ip_denied", body: null } : {}));
    await store.webhookRequestInsert(sampleRequest(other, 9));
    const { environmentId, id: webhookId } = webhook;
    const found = await store.webhookRequestGet({ environmentId, webhookId, id: "req_3" as WebhookRequestId });
    assert.deepEqual({ ...found, sequence: 0 }, { ...sampleRequest(webhook, 3), eventId: null, sequence: 0 });
    assert.equal(await store.webhookRequestGet({ environmentId, webhookId, id: "req_9" as WebhookRequestId }), null);

    const first = await store.webhookRequestList({ environmentId, webhookId, limit: 3 });
    assert.ok(first.next);
    const second = await store.webhookRequestList({ environmentId, webhookId, limit: 3, after: first.next });
    assert.deepEqual(
      [...first.requests, ...second.requests].map(({ id }) => id),
      ["req_4", "req_3", "req_2", "req_1", "req_0"],
    );
    assert.equal(second.next, null);
    const count = async (filters: object) =>
      (await store.webhookRequestList({ environmentId, webhookId, limit: 10, ...filters })).requests.length;
    assert.deepEqual([await count({ outcome: "ip_denied" }), await count({ from: 1_001, to: 1_003 })], [1, 2]);
    await store.webhookRequestInsert(sampleRequest(other, 10, { body: '{"name": "caf\\u00e9 RIVAL"}' }));
    const texts = ["café rival", '"name":"caf', "rival ", "\\", "%"].map(async (text) => {
      const { requests } = await store.webhookRequestList({ environmentId, webhookId: other.id, limit: 5, text });
      return requests.map(({ id }) => id);
    });
    assert.deepEqual(await Promise.all(texts), [["req_10"], ["req_10"], [], ["req_10"], []]);
    assert.equal(await count({ text: "café" }), 0, "of another webhook");
    const counts = await store.webhookRequestCounts({ environmentId, webhookId, from: 1_001, to: 1_005, intervalMs: 2 });
    assert.deepEqual(counts.map(({ interval, outcome, count: n }) => [interval, outcome === "ip_denied", n]).sort(), [
      [0, false, 1],
      [0, true, 1],
      [1, false, 2],
    ]);
    const outcomes = await store.webhookRequestOutcomes({ environmentId, webhookIds: [other.id, webhookId], limit: 3 });
    assert.deepEqual(
      outcomes.map((found) => [found.webhookId, found.receivedAt, found.outcome === "ip_denied"]),
      [
        [other.id, 1_010, false],
        [other.id, 1_009, false],
        [webhookId, 1_004, false],
        [webhookId, 1_003, false],
        [webhookId, 1_002, true],
      ],
    );
    const elsewhere = await makeEnvironment(store, "staging");
    assert.deepEqual(await store.webhookRequestOutcomes({ environmentId: elsewhere.id, webhookIds: [webhookId], limit: 3 }), []);
  });

  test(`${engine.name}: requests of a rare outcome are found however far back, page by page`, async (t) => {
    const { store } = await engine.open(t);
    const webhook = await makeWebhook(store, await makeEnvironment(store));
    const rare = new Set([0, 1, 2, 1_500, 3_999]);
    const all = Array.from({ length: 4_000 }, (_, n) => sampleRequest(webhook, n, rare.has(n) ? { outcome: "ip_denied" } : {}));
    await Promise.all(all.map((request) => store.webhookRequestInsert(request)));
    const list = { environmentId: webhook.environmentId, webhookId: webhook.id, limit: 2, outcome: "ip_denied" };
    const found: string[] = [];
    let next: EventCursor | null = null;
    do {
      const page = await store.webhookRequestList({ ...list, ...(next && { after: next }) });
      assert.ok(page.requests.length <= 2);
      found.push(...page.requests.map(({ id }) => id));
      next = page.next;
    } while (next);
    assert.deepEqual(found, ["req_3999", "req_1500", "req_2", "req_1", "req_0"]);
  });

  test(`${engine.name}: an accepted request is recorded with its event, a duplicate with the first one's`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const webhook = await makeWebhook(store, environment);
    const append = (n: number) => {
      const webhookRequest = sampleRequest(webhook, n, { outcome: "accepted", status: 200, error: null });
      return store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId: "d" })], { webhookRequest }));
    };
    const [first] = [await append(1), await append(2)];
    const { requests } = await store.webhookRequestList({ environmentId: environment.id, webhookId: webhook.id, limit: 10 });
    assert.deepEqual(
      requests.map(({ eventId }) => eventId),
      [first?.ids[0], first?.ids[0]],
    );
  });

  test(`${engine.name}: following yields every request of the webhook in the order of its commit`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const [webhook, other] = [await makeWebhook(store, environment), await makeWebhook(store, environment, "wh_2")];
    const hour = 3_600_000;
    for (let n = 0; n < 9; n++) {
      await store.webhookRequestInsert(sampleRequest(n % 3 === 2 ? other : webhook, n, { receivedAt: n * hour }));
    }
    const { environmentId, id: webhookId } = webhook;
    const follow = async (from: number) => {
      const followed: string[] = [];
      for (let after = from, reached = -1; reached !== after; ) {
        reached = after;
        const read = await store.webhookRequestFollow({ environmentId, webhookId, after, limit: 4 });
        followed.push(...read.requests.map(({ id }) => id.slice(4)));
        after = read.reached;
      }
      return followed.join("");
    };
    assert.equal(await follow(0), "013467");
    assert.equal(await follow(await store.webhookRequestSequence({ environmentId })), "");
    const before = (receivedFrom: number) => store.webhookRequestSequenceBefore({ environmentId, webhookId, receivedFrom });
    assert.deepEqual([await follow(await before(4 * hour)), await follow(await before(99 * hour))], ["467", ""]);
    await store.webhookRequestExpireMany({ receivedUntil: 99 * hour, limit: 100 });
    await store.webhookRequestInsert(sampleRequest(webhook, 10));
    assert.equal(await follow(9), "10", "a place from before everything expired");
  });

  test(`${engine.name}: old records are removed, oldest first, at most as many as asked`, async (t) => {
    const { store } = await engine.open(t);
    const webhook = await makeWebhook(store, await makeEnvironment(store));
    for (let n = 0; n < 6; n++) await store.webhookRequestInsert(sampleRequest(webhook, n));
    const expire = () => store.webhookRequestExpireMany({ receivedUntil: 1_003, limit: 3 });
    assert.deepEqual([await expire(), await expire(), await expire()], [3, 1, 0]);
    const { requests } = await store.webhookRequestList({ environmentId: webhook.environmentId, webhookId: webhook.id, limit: 10 });
    assert.equal(requests.length, 2);
  });
}
