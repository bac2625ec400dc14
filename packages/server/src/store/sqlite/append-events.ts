/** Writes one batch of events, inside the transaction of the group it belongs to. */

import type { DatabaseSync } from "node:sqlite";
import type { EventId } from "@inlet/protocol";
import { type EventAppendResult, type EventBatch, type NewEvent, toStoreText } from "../contract/index.ts";

import type { EventTypeSums } from "./event-type-sums.ts";
import type { EventWords } from "./event-words.ts";
import { prepareRecordRequest } from "./webhook-requests.ts";

export type AppendEvents = (batch: EventBatch) => EventAppendResult;

export function prepareAppendEvents(db: DatabaseSync, words: EventWords, sums: EventTypeSums): AppendEvents {
  const recordRequest = prepareRecordRequest(db);
  const insertEvent = db.prepare(`
    INSERT INTO events (environment_id, event_id, name_id, ts, received_at, dedup_id, source_no, extras, data)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const findEvent = db.prepare("SELECT 1 FROM events WHERE environment_id = ? AND event_id = ?");
  const countDuplicate = db.prepare("UPDATE events SET duplicates = duplicates + 1 WHERE environment_id = ? AND event_id = ?");
  const findKey = db.prepare("SELECT event_id FROM dedup_keys WHERE environment_id = ? AND dedup_id = ? AND first_seen_at > ?");
  const keepKey = db.prepare(`
    INSERT INTO dedup_keys (environment_id, dedup_id, event_id, first_seen_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET event_id = excluded.event_id, first_seen_at = excluded.first_seen_at`);

  /** The event this one repeats, if any. Earlier events of the same group are seen too: their rows are in the transaction. */
  function firstOf(batch: EventBatch, event: NewEvent, dedupId: string | null): EventId | null {
    const { environmentId } = batch;
    if (dedupId !== null) {
      const key = findKey.get(environmentId, dedupId, batch.duplicateSince);
      if (key) return key.event_id as EventId;
    }
    return batch.idsFromSender && findEvent.get(environmentId, event.id) ? event.id : null;
  }

  function insert(batch: EventBatch, sourceNo: number, event: NewEvent, dedupId: string | null): void {
    const { environmentId, receivedAt } = batch;
    const { id, ts, extras, data } = event;
    const nameId = words.nameId(event.name);
    const row = insertEvent.run(environmentId, id, nameId, ts, receivedAt, dedupId, sourceNo, extras, data);
    sums.note(environmentId, nameId, receivedAt, row.lastInsertRowid as number);
    if (dedupId !== null) keepKey.run(environmentId, dedupId, event.id, receivedAt);
  }

  return (batch) => {
    const ids: EventId[] = [];
    const sourceNo = words.sourceNo(batch.source);
    let duplicates = 0;
    for (const event of batch.events) {
      const dedupId = event.dedupId === null ? null : toStoreText(event.dedupId);
      const first = firstOf(batch, event, dedupId);
      if (first) {
        countDuplicate.run(batch.environmentId, first);
        duplicates++;
      } else insert(batch, sourceNo, event, dedupId);
      ids.push(first ?? event.id);
    }
    if (batch.webhookRequest) recordRequest(batch.webhookRequest, ids[0] ?? null);
    return { ids, duplicates };
  };
}
