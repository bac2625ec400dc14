/** What a client of a service does while one of its databases is in trouble. The app in its environments has a function `order` that sleeps. */

import assert from "node:assert/strict";
import { hasEnded, poll } from "./app.ts";
import { type Answer, call, type ServiceClient } from "./service.ts";

export async function ok(answer: Promise<Answer>, status: number): Promise<Answer> {
  const given = await answer;
  assert.equal(given.status, status, given.text);
  return given;
}

/** What is in flight when the database goes away may still succeed. */
export async function refused(ask: () => Promise<Answer>): Promise<void> {
  const last = await poll(async () => {
    const answer = await ask();
    return answer.status === 200 ? null : answer;
  }, "a refusal");
  assert.deepEqual([last.status, last.body?.code], [503, "store_unavailable"], last.text);
}

export async function accepts(service: ServiceClient, key: string): Promise<string> {
  return poll(
    async () => (await service.send({ name: "shop/order", data: {} }, { key })).body?.ids?.[0] ?? null,
    "an accepted event",
    120_000,
  );
}

/** An event whose run has begun to sleep, at least. */
export async function sleeping(service: ServiceClient, key: string, headers: Record<string, string>): Promise<string> {
  const id = await accepts(service, key);
  await poll(async () => {
    const [run] = (await service.rest("GET", `/events/${id}/runs`, { headers })).body.data ?? [];
    return run && (["sleeping", "waiting"].includes(run.status) || hasEnded(run)) ? true : null;
  }, "the sleep");
  return id;
}

export async function runs(service: ServiceClient, key: string, headers: Record<string, string>): Promise<void> {
  await ended(service, await accepts(service, key), headers);
}

export async function ended(service: ServiceClient, eventId: string, headers: Record<string, string>): Promise<void> {
  const run = await poll(
    async () => {
      const [found] = (await service.rest("GET", `/events/${eventId}/runs`, { headers })).body?.data ?? [];
      return found && hasEnded(found) ? found : null;
    },
    `the run of ${eventId}`,
    120_000,
  );
  assert.equal(run.status, "completed");
}

export function ready({ url }: ServiceClient): Promise<Answer> {
  return call(`${url}/ready`);
}
