/**
 * Accepted means kept. The real process is killed with SIGKILL at a random moment while 20 connections send; after a restart
 * every event that was acknowledged is there, once, and no batch is half there. CRASH_ROUNDS=500 runs it for longer.
 */

import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, temporaryFolder } from "./support/service.ts";

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 20);
const SENDERS = 20;
const BATCH = 7;
const LOAD_MS_MAX = 250;

interface Acknowledged {
  ids: string[];
  batch: string;
}

test(`${ROUNDS} crashes lose no acknowledged event and halve no batch`, async (t) => {
  const dataDir = temporaryFolder(t);
  const flags = ["--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir, "--event-key", EVENT_KEY, "--api-key", API_KEY];
  let acknowledgedInAll = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const doomed = await startInlet(t, ["start", ...flags, "--log-level", "warn"]);
    const crashAfterMs = Math.random() * LOAD_MS_MAX;
    const senders = Array.from({ length: SENDERS }, (_, sender) => sendUntilRefused(doomed.url, round, sender));
    await sleep(crashAfterMs);
    await doomed.end("SIGKILL");
    const acknowledged = (await Promise.all(senders)).flat();

    const restarted = await startInlet(t, ["start", ...flags, "--log-level", "warn"]);
    const kept = await readRound(restarted.url, round);
    await restarted.end("SIGTERM");
    check(acknowledged, kept, `round ${round}, killed after ${crashAfterMs.toFixed(1)} ms`);
    acknowledgedInAll += acknowledged.length;
  }
  assert.ok(acknowledgedInAll > ROUNDS * SENDERS, `only ${acknowledgedInAll} requests were acknowledged: the test proves nothing`);
});

/** Sends single events and batches in turn on one connection until the connection dies. */
async function sendUntilRefused(url: string, round: number, sender: number): Promise<Acknowledged[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const acknowledged: Acknowledged[] = [];
  try {
    for (let n = 0; ; n++) {
      const batch = `${sender}-${n}`;
      const size = n % 2 === 0 ? 1 : BATCH;
      const events = Array.from({ length: size }, () => ({ name: `crash/round.${round}`, data: { batch, size } }));
      acknowledged.push({ batch, ids: await post(agent, `${url}/e/${EVENT_KEY}`, JSON.stringify(events)) });
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
async function readRound(url: string, round: number): Promise<Map<string, { batch: string; size: number }>> {
  const kept = new Map<string, { batch: string; size: number }>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = `name=crash/round.${round}&limit=100${cursor && `&cursor=${cursor}`}`;
    const { status, body } = await call(`${url}/v1/events?${query}`, { headers: { authorization: `Bearer ${API_KEY}` } });
    assert.equal(status, 200);
    for (const event of body.data) {
      assert.ok(!kept.has(event.id), `event ${event.id} is listed twice`);
      kept.set(event.id, event.data);
    }
    cursor = body.page.next;
  }
  return kept;
}

function check(acknowledged: Acknowledged[], kept: Map<string, { batch: string; size: number }>, when: string): void {
  for (const { ids, batch } of acknowledged) {
    for (const id of ids) assert.equal(kept.get(id)?.batch, batch, `acknowledged event ${id} is missing (${when})`);
  }
  const sizes = new Map<string, number>();
  for (const { batch } of kept.values()) sizes.set(batch, (sizes.get(batch) ?? 0) + 1);
  for (const { batch, size } of kept.values()) assert.equal(sizes.get(batch), size, `batch ${batch} is half there (${when})`);
}
