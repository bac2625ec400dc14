/** Quotas of the environment that hold for a while. Whoever is refused tries again until they are gone. */

import type { Random } from "../random.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimQuota } from "./deeds.ts";
import { type DeedParts, RESEND_MS, SPAN_MS, untilDone } from "./doing.ts";

const DAY_MS = 86_400_000;
const ROOM = {
  eventsPerSecond: [1, 3, 10],
  eventsPerDay: [1, 10, 40],
  bytesPerDay: [1, 1_000],
  callsAtOnce: [1, 4, 15],
  storedBytes: [5_000, 100_000],
} as const;
/** Longer than it takes until what exceeds a quota is removed. */
const KEPT_WITHIN_MS = 60_000;
/** The embedded store never removes its newest run: the next one would get its number. */
const ENDED_KEPT_MAX = 1;

/** `mayRemove`: nobody judges what is left by itself. */
export function generateQuotas(random: Random, mayRemove: boolean): SimQuota[] {
  const all = (Object.keys(ROOM) as SimQuota["quota"][]).filter((quota) => quota !== "storedBytes" || mayRemove);
  const kinds = all.filter(() => random.chance(0.25));
  return kinds.map((quota) => ({
    atMs: random.int(1, SPAN_MS),
    forMs: random.pick([2_000, 10_000, 20_000]),
    quota,
    room: random.pick(ROOM[quota]),
  }));
}

export async function setQuota(parts: DeedParts, { quota, room, forMs }: SimQuota): Promise<void> {
  const note = parts.journal.noteQuota(quota);
  const isOfDay = quota === "eventsPerDay" || quota === "bytesPerDay";
  let limit: number | null = null;
  note.askedAt = now();
  await untilDone(parts, async ({ store, directory, environment: { id } }) => {
    // Asked once: whether a request that was lost has set it is not known.
    limit ??= room + (isOfDay ? await usedToday(store, id, quota) : 0);
    note.limit = limit;
    await store.environmentUpdate({ id, quotas: { [quota]: limit } });
    await directory.refresh();
  });
  note.setAt = now();
  await pass(forMs);
  if (quota === "storedBytes") await untilKept(parts, note.limit);
  note.endAskedAt = now();
  await untilDone(parts, async ({ store, directory, environment: { id } }) => {
    await store.environmentUpdate({ id, quotas: { [quota]: null } });
    await directory.refresh();
  });
  note.endedAt = now();
}

type At = Parameters<Parameters<typeof untilDone>[1]>[0];

async function usedToday(store: At["store"], id: At["environment"]["id"], quota: "eventsPerDay" | "bytesPerDay"): Promise<number> {
  const from = now() - (now() % DAY_MS);
  const [today] = await store.usageList({ environmentIds: [id], kind: "environment", from, to: from + DAY_MS, intervalMs: DAY_MS });
  return today?.figures[quota === "eventsPerDay" ? "accepted" : "bytes"] ?? 0;
}

/**
 * What has ended is removed until the rest is within the quota. In real time, nobody says when: a node that was killed keeps its turn to
 * sweep for a while, and a measurement that took long is used for long.
 */
async function untilKept(parts: DeedParts, limit: number): Promise<void> {
  const until = now() + KEPT_WITHIN_MS;
  let stored = Number.POSITIVE_INFINITY;
  for (;;) {
    let ended = 0;
    await untilDone(parts, async ({ store, environment: { id: environmentId } }) => {
      const { events, runs, requests } = await store.retentionStoredBytes({ environmentId });
      const list = await store.runList({ environmentId, status: "completed", limit: ENDED_KEPT_MAX + 1 });
      stored = events + runs + requests;
      ended = list.runs.length;
    });
    if (stored <= limit || ended <= ENDED_KEPT_MAX) return;
    if (now() > until) break;
    await pass(RESEND_MS);
  }
  if (parts.scenario.isRealTime) return;
  parts.journal.fault(`${stored} bytes are stored where ${limit} may be, and runs that have ended are kept`);
}
