/** Pages are bounded by bytes: they may be shorter than asked for, and neither repeat nor skip. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebhookId, WebhookRequestId } from "@inlet/protocol";
import { type EventCursor, type NewWebhookRequest, NO_SECRETS, type Store, type Webhook } from "../contract/index.ts";
import type { Engine } from "./engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "./samples.ts";

const COUNT = 12;
const ROW_BYTES = 10_000;
const BYTES_MAX = 25_000;
/** One more than fits, since the row that reaches the bound is read. */
const ROWS_MAX = 3;
const newestFirst = Array.from({ length: COUNT }, (_, n) => COUNT - 1 - n);

export function pageBytesConformance(engine: Engine): void {
  test(`${engine.name}: a page of events ends once it holds enough bytes, whatever it is filtered by`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await fillEvents(store);
    for (const filters of [{}, { name: "shop/*" }, { name: "shop/a" }, { text: "xxx" }, { source: "key" }]) {
      const seen: number[] = [];
      let after: EventCursor | null = null;
      do {
        const page = await store.eventList({ environmentId, limit: 100, bytesMax: BYTES_MAX, ...filters, ...(after && { after }) });
        assert.ok(page.events.length <= ROWS_MAX, `${page.events.length} events with ${JSON.stringify(filters)}`);
        seen.push(...page.events.map(({ ts }) => ts));
        after = page.next;
      } while (after);
      const expected = "name" in filters && filters.name === "shop/a" ? newestFirst.filter((n) => n % 2 === 0) : newestFirst;
      assert.deepEqual(seen, expected, JSON.stringify(filters));
    }
    const alone = await store.eventList({ environmentId, limit: 100, bytesMax: 1 });
    assert.equal(alone.events.length, 1, "one is always read");
  });

  test(`${engine.name}: following events and requests is bounded by bytes`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await fillEvents(store);
    const webhook = await fillRequests(store);
    const events = await followAll(async (after) => {
      const { events, reached } = await store.eventFollow({ environmentId, after, limit: 100, bytesMax: BYTES_MAX });
      return { seen: events.map(({ ts }) => ts), reached };
    });
    const request = { environmentId: webhook.environmentId, webhookId: webhook.id };
    const requests = await followAll(async (after) => {
      const { requests, reached } = await store.webhookRequestFollow({ ...request, after, limit: 100, bytesMax: BYTES_MAX });
      return { seen: requests.map(({ receivedAt }) => receivedAt), reached };
    });
    assert.deepEqual(events, newestFirst.toReversed());
    assert.deepEqual(requests, newestFirst.toReversed());
  });

  test(`${engine.name}: a page of requests ends once it holds enough bytes`, async (t) => {
    const { store } = await engine.open(t);
    const webhook = await fillRequests(store);
    for (const filters of [{}, { outcome: "transform_failed" }]) {
      const seen: number[] = [];
      let after: EventCursor | null = null;
      do {
        const list = { environmentId: webhook.environmentId, webhookId: webhook.id, limit: 100, bytesMax: BYTES_MAX, ...filters };
        const page = await store.webhookRequestList({ ...list, ...(after && { after }) });
        assert.ok(page.requests.length <= ROWS_MAX, `${page.requests.length} requests`);
        seen.push(...page.requests.map(({ receivedAt }) => receivedAt));
        after = page.next;
      } while (after);
      assert.deepEqual(seen, newestFirst);
    }
  });
}

async function followAll(read: (after: number) => Promise<{ seen: number[]; reached: number }>): Promise<number[]> {
  const all: number[] = [];
  for (let after = 0, before = -1; before !== after; ) {
    before = after;
    const { seen, reached } = await read(after);
    assert.ok(seen.length <= ROWS_MAX, `${seen.length} rows`);
    all.push(...seen);
    after = reached;
  }
  return all;
}

async function fillEvents(store: Store) {
  const environment = await makeEnvironment(store);
  for (let n = 0; n < COUNT; n++) {
    const event = sampleEvent({ name: `shop/${n % 2 ? "b" : "a"}`, ts: n, data: `{"text":"${"x".repeat(ROW_BYTES)}"}` });
    await store.eventAppend(sampleBatch(environment, [event], { receivedAt: 1_000 + n }));
  }
  return environment;
}

async function fillRequests(store: Store): Promise<Webhook> {
  const { id: environmentId } = await makeEnvironment(store, "hooks");
  const lists = {
    eventNames: null,
    ips: null,
    verify: null,
    handshake: null,
    answer: null,
    mirror: null,
    reconcile: null,
    secrets: NO_SECRETS,
  };
  const id = "wh_1" as WebhookId;
  const webhook = await store.webhookInsert({
    id,
    environmentId,
    name: "hook",
    token: "token",
    transform: "code",
    enabled: true,
    createdAt: 1,
    ...lists,
  });
  for (let n = 0; n < COUNT; n++) await store.webhookRequestInsert(largeRequest(webhook, n));
  return webhook;
}

function largeRequest({ id: webhookId, environmentId }: Webhook, n: number): NewWebhookRequest {
  return {
    id: `req_${n}` as WebhookRequestId,
    webhookId,
    environmentId,
    receivedAt: n,
    ip: "127.0.0.1",
    method: "POST",
    headers: "[]",
    query: "",
    contentType: null,
    body: "x".repeat(ROW_BYTES),
    bodyBase64: null,
    status: 400,
    outcome: "transform_failed",
    error: null,
    deliveredTo: environmentId,
    transformVersion: 1,
    durationMs: 1,
    logs: "[]",
    verifiedAt: null,
    isReconciled: false,
    bodyKey: null,
  };
}
