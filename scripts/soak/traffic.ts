/**
 * Mixed traffic: single events, batches, duplicates, webhook requests, and reads as the dashboard makes them. What fails is sent again
 * with the same ids until it is acknowledged, as a sender does; what was acknowledged is remembered.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { API_KEY, EVENT_KEY } from "./processes.ts";

const READS = ["/v1/events?limit=50", "/v1/runs?limit=50", "/v1/functions", "/v1/event-types", "/v1/keys", "/v1/events?q=key&limit=5", "/"];
const BATCH_EVENTS = 20;
const TRANSFORM = "(evt) => ({ name: 'soak/hook', data: { key: evt.key }, id: evt.key })";

export interface Traffic {
  stop(): Promise<void>;
  /** Event IDs that were acknowledged, and the keys of those whose runs have to end. */
  sent(): { acknowledged: ReadonlySet<string>; keys: ReadonlySet<string>; wrongDuplicates: readonly string[] };
  counts(): Record<string, number>;
}

export async function startTraffic({ urls, perSecond }: { urls: readonly string[]; perSecond: number }): Promise<Traffic> {
  const acknowledged = new Set<string>();
  const keys = new Set<string>();
  const wrongDuplicates: string[] = [];
  const counts = { events: 0, duplicates: 0, webhooks: 0, reads: 0, retries: 0, refused: 0 };
  const webhookPath = new URL(await createWebhook(urls[0] ?? "")).pathname;
  let [number, isStopped] = [0, false];
  const recent: { key: string; id: string }[] = [];
  const url = () => urls[number++ % urls.length] ?? "";

  /** Sends until it is acknowledged; the ids of the response. */
  async function acknowledge(path: string, body: unknown): Promise<string[]> {
    for (;;) {
      try {
        const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
        const response = await fetch(`${url()}${path}`, { ...init, signal: AbortSignal.timeout(30_000) });
        const { ids } = (await response.json()) as { ids?: string[] };
        if (response.status === 200 && ids) return ids;
        counts.refused++;
      } catch {
        counts.retries++;
      }
      await sleep(100);
    }
  }

  async function sendOrder(): Promise<void> {
    const key = `order-${number}-${Math.random()}`;
    const [id = ""] = await acknowledge(`/e/${EVENT_KEY}`, { name: "soak/order", data: { key }, id: key });
    acknowledged.add(id);
    keys.add(key);
    counts.events++;
    recent.push({ key, id });
    if (recent.length > 500) recent.shift();
  }

  async function sendBatch(): Promise<void> {
    const events = Array.from({ length: BATCH_EVENTS }, (_, i) => ({
      name: "soak/batch",
      data: { i },
      id: `batch-${number}-${i}-${Math.random()}`,
    }));
    for (const id of await acknowledge(`/e/${EVENT_KEY}`, events)) acknowledged.add(id);
    counts.events += BATCH_EVENTS;
  }

  async function sendDuplicate(): Promise<void> {
    const first = recent[Math.floor(Math.random() * recent.length)];
    if (!first) return;
    const [id] = await acknowledge(`/e/${EVENT_KEY}`, { name: "soak/order", data: { key: first.key }, id: first.key });
    if (id !== first.id) wrongDuplicates.push(`${first.key}: ${first.id}, then ${id}`);
    counts.duplicates++;
  }

  async function sendWebhook(): Promise<void> {
    const key = `hook-${number}-${Math.random()}`;
    const [id = ""] = await acknowledge(webhookPath, { key });
    acknowledged.add(id);
    keys.add(key);
    counts.webhooks++;
  }

  async function read(): Promise<void> {
    const path = READS[counts.reads++ % READS.length] ?? "/";
    const response = await fetch(`${url()}${path}`, { headers: { authorization: `Bearer ${API_KEY}` } }).catch(() => null);
    await response?.arrayBuffer().catch(() => null);
  }

  /** One after the other, at most so many per second. */
  async function repeat(action: () => Promise<void>, everyMs: number): Promise<void> {
    while (!isStopped) {
      const begun = performance.now();
      await action();
      await sleep(Math.max(1, everyMs - (performance.now() - begun)));
    }
  }

  // Orders are most of the traffic; four senders, so that a slow answer holds up only its own.
  const orders = Array.from({ length: 4 }, () => repeat(sendOrder, 4_000 / (perSecond / 2)));
  const others = [repeat(sendBatch, 1_000 * (BATCH_EVENTS / (perSecond / 2))), repeat(sendDuplicate, 8_000 / perSecond)];
  const work = [...orders, ...others, repeat(sendWebhook, 8_000 / perSecond), repeat(read, 250)];
  return {
    async stop() {
      isStopped = true;
      await Promise.all(work);
    },
    sent: () => ({ acknowledged, keys, wrongDuplicates }),
    counts: () => counts,
  };
}

async function createWebhook(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/webhooks`, {
    method: "POST",
    body: JSON.stringify({ name: "soak", transform: TRANSFORM }),
    headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
  });
  const { data } = (await response.json()) as { data: { url: string } };
  return data.url;
}
