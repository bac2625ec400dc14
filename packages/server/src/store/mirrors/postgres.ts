/** Events that are still to be copied to branches, in PostgreSQL. */

import type { MirrorStore, PendingMirror } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { notFenced } from "../postgres/fenced.ts";
import { insertInto, jsonRows } from "../postgres/json-rows.ts";
import type { PendingWrites } from "../postgres/pending-writes.ts";
import { type MirrorRow, mirrorRow, toPendingMirror } from "./rows.ts";

const INSERT = `
  ${insertInto("pending_mirrors", { environment_id: "integer", event_id: "text", webhook_id: "text", targets: "text" })}
  ON CONFLICT DO NOTHING`;

const LIST = `
  SELECT * FROM pending_mirrors WHERE ${notFenced("environment_id")} AND (event_id, environment_id) > ($1, $2)
  ORDER BY event_id, environment_id LIMIT $3`;

export function noteMirrors(writes: PendingWrites, pending: readonly PendingMirror[]): void {
  if (pending.length > 0) writes.send(INSERT, jsonRows(pending.map(mirrorRow)));
}

export function mirrorStore(database: Database): MirrorStore {
  return {
    async mirrorList({ limit, after }) {
      const rows = await database.query<MirrorRow>(LIST, [after?.eventId ?? "", after?.environmentId ?? 0, limit]);
      return rows.map(toPendingMirror);
    },
    async mirrorKeep({ environmentId, eventId, targets }) {
      const values = [environmentId, eventId, JSON.stringify(targets)];
      await database.query("UPDATE pending_mirrors SET targets = $3 WHERE environment_id = $1 AND event_id = $2", values);
    },
    async mirrorRemove({ environmentId, eventId }) {
      await database.query("DELETE FROM pending_mirrors WHERE environment_id = $1 AND event_id = $2", [environmentId, eventId]);
    },
  };
}
