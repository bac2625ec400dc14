/** Inferred shapes of events in PostgreSQL. */

import type { EnvironmentId } from "@inlet/protocol";
import type { EventShapeStore } from "../contract/index.ts";
import { selectEvents } from "../events/postgres/select-events.ts";
import { sequenceAfter, settledSequence } from "../events/postgres/settled-sequence.ts";
import { type EventRow, toStoredEvent } from "../events/rows/event-rows.ts";
import type { Database, Read } from "../postgres/database.ts";
import { COUNTED_HERE } from "../postgres/fenced.ts";

const SAMPLE = `${selectEvents(`WHERE sequence > $1 AND sequence <= $2 AND length(data) <= $3 AND ${COUNTED_HERE}`)} ORDER BY sequence`;
const FIND = `
  SELECT environment_id, name, shape FROM event_shapes
  WHERE (environment_id, name) IN (SELECT * FROM unnest($1::integer[], $2::text[]))`;
const ADVANCE = "UPDATE event_shapes_read SET sequence = $2 WHERE sequence = $1";
const PUT = `
  INSERT INTO event_shapes (environment_id, name, shape) SELECT * FROM unnest($1::integer[], $2::text[], $3::text[])
  ON CONFLICT (environment_id, name) DO UPDATE SET shape = excluded.shape`;

/** The number before the newest `count` events. */
async function beforeNewest(database: Database, last: number, count: number): Promise<number> {
  const newest = "SELECT sequence FROM events WHERE sequence <= $1 ORDER BY sequence DESC LIMIT $2";
  const [row] = await database.read<{ first: number | null }>(`SELECT min(sequence) AS first FROM (${newest}) AS newest`, [last, count]);
  return (row?.first ?? last + 1) - 1;
}

export function eventShapeStore(database: Database): EventShapeStore {
  return {
    async eventShapeProgress() {
      const [row] = await database.read<{ sequence: number }>("SELECT sequence FROM event_shapes_read");
      return row?.sequence ?? 0;
    },
    async eventSample({ after: asked, limit, dataLengthMax, behindMax = Number.POSITIVE_INFINITY }) {
      const last = await settledSequence(database);
      const read: Read = (text, values) => database.read(text, values);
      const isFarBehind = (await sequenceAfter(read, { after: asked, settled: last, count: limit + behindMax })) < last;
      const after = isFarBehind ? await beforeNewest(database, last, limit) : asked;
      const reached = Math.max(after, await sequenceAfter(read, { after, settled: last, count: limit }));
      const rows = reached > after ? await database.read<EventRow>(SAMPLE, [after, reached, dataLengthMax]) : [];
      return { events: rows.map(toStoredEvent), reached, last };
    },
    async eventShapeGetMany({ keys }) {
      const columns = [keys.map(({ environmentId }) => environmentId), keys.map(({ name }) => name)];
      const rows = await database.read<{ environment_id: EnvironmentId; name: string; shape: string }>(FIND, columns);
      return rows.map(({ environment_id, name, shape }) => ({ environmentId: environment_id, name, shape }));
    },
    async eventShapeCount({ environmentId }) {
      const text = "SELECT count(*)::integer AS count FROM event_shapes WHERE environment_id = $1";
      const [row] = await database.read<{ count: number }>(text, [environmentId]);
      return row?.count ?? 0;
    },
    eventShapePut: ({ from, reached, shapes }) =>
      database.transaction(async (client) => {
        const { rowCount } = await client.query(ADVANCE, [from, reached]);
        if (rowCount === 0) return false;
        await client.query(PUT, [
          shapes.map(({ environmentId }) => environmentId),
          shapes.map(({ name }) => name),
          shapes.map(({ shape }) => shape),
        ]);
        return true;
      }),
  };
}
