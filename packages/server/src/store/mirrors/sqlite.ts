/** Events that are still to be copied to branches, in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { MirrorStore, PendingMirror } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { type MirrorRow, mirrorRow, toPendingMirror } from "./rows.ts";

export function prepareNoteMirror(db: DatabaseSync): (pending: PendingMirror) => void {
  const insert = db.prepare(
    "INSERT INTO pending_mirrors (environment_id, event_id, webhook_id, targets) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  return (pending) => {
    const { environment_id, event_id, webhook_id, targets } = mirrorRow(pending);
    insert.run(environment_id, event_id, webhook_id, targets);
  };
}

export function mirrorStore(db: DatabaseSync, writer: GroupCommit): MirrorStore {
  const list = db.prepare(
    "SELECT * FROM pending_mirrors WHERE (event_id, environment_id) > (?, ?) ORDER BY event_id, environment_id LIMIT ?",
  );
  const keep = db.prepare("UPDATE pending_mirrors SET targets = ? WHERE environment_id = ? AND event_id = ?");
  const remove = db.prepare("DELETE FROM pending_mirrors WHERE environment_id = ? AND event_id = ?");
  return {
    async mirrorList({ limit, after }) {
      const rows = list.all(after?.eventId ?? "", after?.environmentId ?? 0, limit) as unknown as MirrorRow[];
      return rows.map(toPendingMirror);
    },
    mirrorKeep: ({ environmentId, eventId, targets }) =>
      writer.submit(() => void keep.run(JSON.stringify(targets), environmentId, eventId)),
    mirrorRemove: ({ environmentId, eventId }) => writer.submit(() => void remove.run(environmentId, eventId)),
  };
}
