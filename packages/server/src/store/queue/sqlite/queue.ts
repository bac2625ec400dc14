/** The queue in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import { type QueueStore, TIMER_LANE } from "../../contract/index.ts";
import { heldCallStore } from "../../held-calls/sqlite.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import type { Reader } from "../../sqlite/reader.ts";
import { ClaimEntries, type ClaimEntriesParts } from "./claim-entries.ts";
import { EntryLeases, type EntryLeasesParts } from "./entry-leases.ts";

export interface QueueParts extends ClaimEntriesParts, EntryLeasesParts {
  writer: GroupCommit;
  reader: Reader;
}

export function queueStore(db: DatabaseSync, { writer, reader, limits, order, entries, changed }: QueueParts): QueueStore {
  const claims = new ClaimEntries(db, { limits, entries, changed });
  const leases = new EntryLeases(db, { limits, order, entries });
  const lanes = new Lanes(db);
  return {
    queueClaimMany: (params) => writer.submit(() => claims.claim(params), params.limit),
    queueRenew: ({ entries: held, until }) =>
      writer.submit(() => new Set(held.filter((entry) => leases.renew(entry, until)).map(({ leaseId }) => leaseId)), held.length),
    queueRelease: ({ entries: held, now }) =>
      writer.submit(() => {
        for (const entry of held) leases.release(entry, now);
      }, held.length),
    queueRecover: ({ node, now }) => writer.submit(() => leases.recover(node, now)),
    queueDepths: () => reader.read("queueDepths", undefined),
    queueCallOf: (params) => reader.read("queueCallOf", params),
    queueFunctionDepths: () => reader.read("queueFunctionDepths", undefined),
    queueProbeBegin: ({ phase, ...entry }) => writer.submit(() => leases.countProbe(phase, entry)),
    queueProbeClear: ({ phase, ...entry }) => writer.submit(() => leases.clearProbes(phase, entry)),
    queueLanes: async () => lanes.inUse(),
    queueNextDue: async () => lanes.nextTimer(),
    queueReschedule: ({ dueAt, ...entry }) => writer.submit(() => leases.reschedule(entry, dueAt)),
    queueWatch: (listener) => entries.watch(listener),
    limitWatch: (listener) => limits.watch(listener),
    queueRemove: (entry) => writer.submit(() => leases.remove(entry)),
    ...heldCallStore(db, { writer, limits, entries }),
  };
}

/** Reads of the writer's own connection: small, and needed at once. */
class Lanes {
  readonly #laneAfter;
  readonly #nextTimer;

  constructor(db: DatabaseSync) {
    this.#laneAfter = db.prepare(
      `SELECT lane FROM queue INDEXED BY queue_by_lane WHERE lane > ? AND lane <> '${TIMER_LANE}' ORDER BY lane LIMIT 1`,
    );
    this.#nextTimer = db.prepare(`SELECT min(rank) AS due FROM queue INDEXED BY queue_timers WHERE lane = '${TIMER_LANE}'`);
  }

  nextTimer(): number | null {
    return (this.#nextTimer.get()?.due as number | null | undefined) ?? null;
  }

  inUse(): string[] {
    const found: string[] = [];
    for (let row = this.#laneAfter.get(""); row; row = this.#laneAfter.get(row.lane as string)) found.push(row.lane as string);
    if (this.nextTimer() !== null) found.push(TIMER_LANE);
    return found;
  }
}
