/** Writes one batch of events and everything they cause, inside the transaction of its group. */

import type { DatabaseSync } from "node:sqlite";
import type { EventId } from "@inlet/protocol";
import type { EventAppendResult, EventBatch, NewEvent } from "../../contract/index.ts";
import { dedupKeyOf, type KeyHash } from "../../dedup-keys/policy.ts";
import { startEntry } from "../../function-starts/policy.ts";
import { prepareNoteMirror } from "../../mirrors/sqlite.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { QueueEntries } from "../../queue/sqlite/queue-entries.ts";
import type { StartRuns } from "../../runs/sqlite/start-runs.ts";
import { addBatch } from "../../usage/policy.ts";
import type { UsageRows } from "../../usage/sqlite.ts";
import type { ResumeRuns } from "../../waits/sqlite/resume-runs.ts";
import { prepareRecordRequest } from "../../webhook-requests/sqlite/webhook-requests.ts";
import { countDistinct } from "../policy.ts";
import type { InsertEvents } from "./insert-events.ts";
import type { InternedIds } from "./interned-ids.ts";

export interface AppendEvents {
  append(batch: EventBatch): EventAppendResult;
  /** Appends inside the transaction of another operation, which leases the resulting work. */
  appendInside(allocation: LeaseAllocation, batch: EventBatch): EventAppendResult;
  /** How many of its events are not duplicates. */
  countNew(batch: EventBatch): number;
}

export interface AppendParts {
  rows: InsertEvents;
  interned: InternedIds;
  entries: QueueEntries;
  startRuns: StartRuns;
  resumeRuns: ResumeRuns;
  usage: UsageRows;
  keyHash: KeyHash;
}

export function prepareAppendEvents(
  db: DatabaseSync,
  { rows, interned, entries, startRuns, resumeRuns, usage, keyHash }: AppendParts,
): AppendEvents {
  const recordRequest = prepareRecordRequest(db);
  const noteMirror = prepareNoteMirror(db);
  const findEvent = db.prepare("SELECT 1 FROM events WHERE environment_id = ? AND event_id = ?");
  const countDuplicate = db.prepare("UPDATE events SET duplicates = duplicates + 1 WHERE environment_id = ? AND event_id = ?");
  const findKey = db.prepare("SELECT event_id FROM dedup_keys WHERE environment_id = ? AND dedup_id = ? AND first_seen_at > ?");
  const keepKey = db.prepare(`
    INSERT INTO dedup_keys (environment_id, dedup_id, event_id, first_seen_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET event_id = excluded.event_id, first_seen_at = excluded.first_seen_at`);

  function keyOf(batch: EventBatch, { dedupId }: NewEvent): string | null {
    return dedupId === null ? null : dedupKeyOf(batch, dedupId, keyHash);
  }

  /** The event that this one duplicates, if any. Covers earlier events of the same group: their rows are in the transaction. */
  function firstOf(batch: EventBatch, event: NewEvent, key: string | null): EventId | null {
    const { environmentId } = batch;
    if (batch.idsFromSender && findEvent.get(environmentId, event.id)) return event.id;
    if (key === null) return null;
    return (findKey.get(environmentId, key, batch.duplicateSince)?.event_id ?? null) as EventId | null;
  }

  function insert(allocation: LeaseAllocation, batch: EventBatch, sourceNo: number, event: NewEvent, key: string | null): void {
    const { environmentId, receivedAt } = batch;
    const { id, ts, dedupId, trace = null, sourceRun = null, extras, schemaErrors = null, data } = event;
    const nameId = interned.nameId(event.name);
    const matched = event.runs?.length ? 1 : 0;
    const found = [dedupId, sourceNo, matched, trace, sourceRun, extras, schemaErrors, data] as const;
    const sequence = rows.add(environmentId, id, nameId, ts, receivedAt, ...found);
    if (key !== null) keepKey.run(environmentId, key, event.id, receivedAt);
    if (event.runs) for (const run of event.runs) startRuns.start(allocation, environmentId, sequence, run);
    if (event.starts) for (const start of event.starts) entries.add(allocation, startEntry(environmentId, sequence, start));
    resumeRuns.resume(allocation, environmentId, { event, sequence, receivedAt });
  }

  function appendInside(allocation: LeaseAllocation, batch: EventBatch): EventAppendResult {
    const ids: EventId[] = [];
    const sourceNo = interned.sourceNo(batch.source);
    let [duplicates, runs] = [0, 0];
    for (const event of batch.events) {
      const key = keyOf(batch, event);
      const first = firstOf(batch, event, key);
      if (first) {
        rows.flush();
        countDuplicate.run(batch.environmentId, first);
        duplicates++;
      } else {
        insert(allocation, batch, sourceNo, event, key);
        runs += event.runs?.length ?? 0;
      }
      ids.push(first ?? event.id);
    }
    rows.flush();
    addBatch(usage.noted, batch, { events: ids.length - duplicates, duplicates, runs });
    if (batch.webhookRequest) recordRequest(batch.webhookRequest, ids[0] ?? null);
    if (batch.mirror && duplicates === 0) noteMirror({ environmentId: batch.environmentId, eventId: ids[0] as EventId, ...batch.mirror });
    return { ids, duplicates, leased: allocation.leased };
  }

  /** Of events with the same id in one batch, the first is new. */
  function countNew(batch: EventBatch): number {
    const found = batch.events.filter((event) => firstOf(batch, event, keyOf(batch, event)) === null);
    return countDistinct(found, batch.idsFromSender);
  }

  return { countNew, append: (batch) => appendInside(new LeaseAllocation(batch.receivedAt, batch.lease), batch), appendInside };
}
