/**
 * Accepted means kept. The real process is killed with SIGKILL after a random number of responses while 20 connections send events and
 * webhook requests; after a restart every event that was acknowledged is there, once, no batch is half there, and every webhook request
 * that was accepted is on record with its event. CRASH_ROUNDS=500 runs it for longer.
 */

import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { test } from "./support/both-stores.ts";
import { startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1);
const SENDERS = 20;
const BATCH = 7;
const RESPONSES_MAX = 400;

const AUTHORIZED = { authorization: `Bearer ${API_KEY}` };

/** The data of a stored event. */
interface Kept {
  batch: string;
  size: number;
  byWebhook: boolean;
}

interface Target {
  url: string;
  /** Of the webhook. */
  token: string;
  onAcknowledged(): void;
}

interface Acknowledged {
  ids: string[];
  batch: string;
}

const TRANSFORM = "(evt) => ({ name: evt.name, data: evt.data })";

test(`crashes lose no acknowledged event and halve no batch: ${ROUNDS}`, async (t) => {
  const { flags: store, passLeases } = await storeFlags(t, { dataDir: temporaryFolder(t) });
  const flags = ["--port", "0", "--host", "127.0.0.1", "--event-key", EVENT_KEY, "--api-key", API_KEY, ...store];
  const start = () => startInlet(t, ["start", ...flags, "--log-level", "warn"]);
  let doomed = await start();
  const webhook = await makeWebhook(doomed.url);
  let stored = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // The first transforms of a process wait for their sandboxes; the crash shall hit a service in full swing.
    for (let n = 0; n < 3; n++) await call(`${doomed.url}/e/${webhook.token}`, { method: "POST", body: "{}" });
    const crashAfter = 1 + Math.floor(Math.random() * RESPONSES_MAX);
    let responses = 0;
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const onAcknowledged = () => ++responses === crashAfter && resolve();
    const target = { url: doomed.url, token: webhook.token, onAcknowledged };
    const senders = Array.from({ length: SENDERS }, (_, sender) => sendUntilRefused(target, round, sender));
    await Promise.race([enough, Promise.all(senders)]);
    await doomed.end("SIGKILL");
    const acknowledged = (await Promise.all(senders)).flat();

    await passLeases();
    // The process that has recovered is the one that the next round kills: no proper end comes between two crashes.
    doomed = await start();
    const kept = await readRound(doomed.url, round);
    await checkRecords(doomed.url, webhook.id, kept);
    stored += kept.size;
    assert.equal(await countedEvents(doomed.url), stored, "usage counts what is stored, no more and no less");
    check(acknowledged, kept, `round ${round}, killed after ${crashAfter} responses`);
  }
});

async function makeWebhook(url: string): Promise<{ id: string; token: string }> {
  const { body } = await call(`${url}/v1/webhooks`, {
    method: "POST",
    headers: { ...AUTHORIZED, "content-type": "application/json" },
    body: JSON.stringify({ name: "crash", transform: TRANSFORM }),
  });
  return { id: body.data.id, token: body.data.url.split("/e/")[1] };
}

/** Sends single events, batches and webhook requests in turn on one connection until the connection dies. */
async function sendUntilRefused({ url, token, onAcknowledged }: Target, round: number, sender: number): Promise<Acknowledged[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const acknowledged: Acknowledged[] = [];
  try {
    for (let n = 0; ; n++) {
      const batch = `${sender}-${n}`;
      const size = n % 3 === 0 ? BATCH : 1;
      const byWebhook = n % 3 === 1;
      const event = { name: `crash/round.${round}`, data: { batch, size, byWebhook } };
      const body = byWebhook ? event : Array.from({ length: size }, () => event);
      acknowledged.push({ batch, ids: await post(agent, `${url}/e/${byWebhook ? token : EVENT_KEY}`, JSON.stringify(body)) });
      onAcknowledged();
    }
  } catch {
    return acknowledged;
  } finally {
    agent.destroy();
  }
}

function post(agent: Agent, url: string, body: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: "POST", headers: { "content-type": "application/json" } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => (response.statusCode === 200 ? resolve(JSON.parse(text).ids) : reject(new Error(text))));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What is stored of a round: the batch of each event, and the size the batch should have. */
async function readRound(url: string, round: number): Promise<Map<string, Kept>> {
  const kept = new Map<string, Kept>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = `name=crash/round.${round}&limit=100${cursor && `&cursor=${cursor}`}`;
    const { status, body } = await call(`${url}/v1/events?${query}`, { headers: AUTHORIZED });
    assert.equal(status, 200);
    for (const event of body.data) {
      assert.ok(!kept.has(event.id), `event ${event.id} is listed twice`);
      kept.set(event.id, event.data);
    }
    cursor = body.page.next;
  }
  return kept;
}

/** On two days, if midnight was in between. */
async function countedEvents(url: string): Promise<number> {
  const { body } = await call(`${url}/v1/usage`, { headers: AUTHORIZED });
  return body.data.reduce((sum: number, { eventsAccepted }: { eventsAccepted: number }) => sum + eventsAccepted, 0);
}

/** Event and record were written together, so they are there together. */
async function checkRecords(url: string, webhookId: string, kept: Map<string, Kept>): Promise<void> {
  const fromWebhook = [...kept].filter(([, { byWebhook }]) => byWebhook).map(([id]) => id);
  const recorded = new Set<string>();
  let cursor = "";
  while (fromWebhook.some((id) => !recorded.has(id))) {
    const { body } = await call(`${url}/v1/webhooks/${webhookId}/requests?limit=100${cursor}`, { headers: AUTHORIZED });
    for (const { eventId } of body.data) recorded.add(eventId);
    if (body.page.next === null) break;
    cursor = `&cursor=${body.page.next}`;
  }
  for (const id of fromWebhook) assert.ok(recorded.has(id), `event ${id} has no record of its request`);
}

function check(acknowledged: Acknowledged[], kept: Map<string, Kept>, when: string): void {
  for (const { ids, batch } of acknowledged) {
    for (const id of ids) assert.equal(kept.get(id)?.batch, batch, `acknowledged event ${id} is missing (${when})`);
  }
  const sizes = new Map<string, number>();
  for (const { batch } of kept.values()) sizes.set(batch, (sizes.get(batch) ?? 0) + 1);
  for (const { batch, size } of kept.values()) assert.equal(sizes.get(batch), size, `batch ${batch} is half there (${when})`);
}
