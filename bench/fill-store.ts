/** Fills a data folder with events, through the store itself, before a service is started on it. */

import { createEventIdGenerator, type FunctionNo, type LeaseId, type RunId, type RunNo } from "@inlet/protocol";
import { openSqliteStore } from "../packages/server/src/store/sqlite/sqlite-store.ts";
import { EVENT_DATA, EVENT_NAME } from "./events.ts";

const EVENTS_PER_BATCH = 2_000;
const NAMES = 40;
/** One event in so many has an id of its sender's. */
const DEDUP_ID_EVERY = 1_000;
/** What the oldest events came from, and no others: the one a list has to go furthest for. */
export const RARE_SOURCE = { kind: "webhook", id: "wh_rare" } as const;

export async function fillStore(folder: string, count: number): Promise<void> {
  const store = openSqliteStore({ folder, onFault: (reason) => console.error(reason), onRecovery: () => undefined });
  const ids = createEventIdGenerator();
  const startedAt = Date.now() - count;
  const environment = await store.environmentInsert({ name: "production", kind: "default", createdAt: startedAt, bodyBytesMax: null });
  if (!environment) throw new Error("the store to fill is not empty");
  for (let done = 0; done < count; done += EVENTS_PER_BATCH) {
    const receivedAt = startedAt + done;
    const events = Array.from({ length: Math.min(EVENTS_PER_BATCH, count - done) }, (_, i) => ({
      id: ids.next(receivedAt),
      name: i % 2 === 0 ? EVENT_NAME : `shop/event.${i % NAMES}`,
      ts: receivedAt,
      dedupId: i % DEDUP_ID_EVERY === 0 ? `order-${done + i}` : null,
      data: EVENT_DATA,
      extras: null,
    }));
    const source = done === 0 ? RARE_SOURCE : ({ kind: "key", id: "filled" } as const);
    await store.eventAppend({ environmentId: environment.id, receivedAt, source, duplicateSince: 0, idsFromSender: false, events });
    showProgress(done + events.length, count);
  }
  await store.stop();
}

/** Runs that have ended, each with its event, as many as were asked for. */
export async function fillRuns(folder: string, count: number): Promise<void> {
  const store = openSqliteStore({ folder, onFault: (reason) => console.error(reason), onRecovery: () => undefined });
  const ids = createEventIdGenerator();
  const newId = () => ids.next(Date.now()) as string as LeaseId;
  const lease = { node: "filler", until: Number.MAX_SAFE_INTEGER, newId, roomIn: () => Number.POSITIVE_INFINITY };
  const startedAt = Date.now() - count;
  const environment = await store.environmentInsert({ name: "production", kind: "default", createdAt: startedAt, bodyBytesMax: null });
  if (!environment) throw new Error("the store to fill is not empty");
  const place = { environmentId: environment.id, source: { kind: "key", id: "filled" } as const, duplicateSince: 0, idsFromSender: false };
  for (let done = 0; done < count; done += EVENTS_PER_BATCH) {
    const now = startedAt + done;
    const events = Array.from({ length: Math.min(EVENTS_PER_BATCH, count - done) }, () => {
      const run = { id: ids.next(now) as string as RunId, functionNo: 1 as FunctionNo, lane: "app:1", dueAt: now, rank: now };
      return { id: ids.next(now), name: EVENT_NAME, ts: now, dedupId: null, data: EVENT_DATA, extras: null, runs: [run] };
    });
    const { leased } = await store.eventAppend({ ...place, receivedAt: now, events, lease });
    const end = { status: "completed", endedAt: now, output: '"ok"', error: null } as const;
    const finish = (entry: (typeof leased)[number]) =>
      store.runAdvance({
        environmentId: environment.id,
        runNo: entry.runNo as RunNo,
        entry,
        now,
        lease,
        decide: () => ({ startedAt: now, end }),
      });
    await Promise.all(leased.map(finish));
    showProgress(done + events.length, count, "runs");
  }
  await store.stop();
}

function showProgress(done: number, count: number, what = "events"): void {
  const line = `filling the store: ${done.toLocaleString("en")} of ${count.toLocaleString("en")} ${what}`;
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === count ? "\n" : ""}`);
  else if (done === count) console.log(line);
}
