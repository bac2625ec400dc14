/** Inferred shapes of events in SQLite. The read thread reads the sample of events. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId } from "@inlet/protocol";
import type { EventSample, EventSampleParams, EventShape, EventShapeStore } from "../contract/index.ts";
import { type EventRow, toStoredEvent } from "../events/rows/event-rows.ts";
import { selectEvents } from "../events/sqlite/select-events.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { Reader } from "../sqlite/reader.ts";

export function eventShapeStore(db: DatabaseSync, writer: GroupCommit, reader: Reader): EventShapeStore {
  const progress = db.prepare("SELECT sequence FROM event_shapes_read");
  const advance = db.prepare("UPDATE event_shapes_read SET sequence = ? WHERE sequence = ?");
  const find = db.prepare("SELECT environment_id, name, shape FROM event_shapes WHERE environment_id = ? AND name = ?");
  const count = db.prepare("SELECT count(*) AS count FROM event_shapes WHERE environment_id = ?");
  const put = db.prepare(`
    INSERT INTO event_shapes (environment_id, name, shape) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET shape = excluded.shape`);

  function putAll(from: number, reached: number, shapes: readonly EventShape[]): boolean {
    if (advance.run(reached, from).changes === 0) return false;
    for (const { environmentId, name, shape } of shapes) put.run(environmentId, name, shape);
    return true;
  }

  return {
    eventShapeProgress: async () => progress.get()?.sequence as number,
    eventSample: (params) => reader.read("eventSample", params),
    eventShapeGetMany: async ({ keys }) =>
      keys.flatMap(({ environmentId, name }) => {
        const row = find.get(environmentId, name) as { environment_id: EnvironmentId; name: string; shape: string } | undefined;
        return row ? [{ environmentId: row.environment_id, name: row.name, shape: row.shape }] : [];
      }),
    eventShapeCount: async ({ environmentId }) => count.get(environmentId)?.count as number,
    eventShapePut: ({ from, reached, shapes }) => writer.submit(() => putAll(from, reached, shapes), shapes.length + 1),
  };
}

export function sampleEvents(
  db: DatabaseSync,
  { limit, dataLengthMax, behindMax = Number.POSITIVE_INFINITY, ...asked }: EventSampleParams,
): EventSample {
  const { last } = db.prepare("SELECT coalesce(max(sequence), 0) AS last FROM events").get() as { last: number };
  const after = last - asked.after > limit + behindMax ? last - limit : asked.after;
  const reached = Math.max(after, Math.min(last, after + limit));
  const rows = db
    .prepare(`${selectEvents()} WHERE sequence > ? AND sequence <= ? AND length(data) <= ? ORDER BY sequence`)
    .all(after, reached, dataLengthMax) as unknown as EventRow[];
  return { events: rows.map(toStoredEvent), reached, last };
}
