/** Finds or creates the key that encrypts secrets, and encrypts stored secrets again under the first key: see key-file.ts. */

import type { DatabaseSync } from "node:sqlite";
import type { RunNo, StepId } from "@inlet/protocol";
import { readKeyFile, writeKeyFile } from "../../sqlite/folder/key-file.ts";
import { resealedDetail } from "../rows/sealed-requests.ts";
import { resealed, SEALED_COLUMNS, type SealedRow } from "../rows/sealed-rows.ts";
import { createSecretBox, newEncryptionKey, type SecretBox } from "../rows/secret-box.ts";

/** The keys of the setting come before those of the file. A file is created only if nothing is encrypted yet. */
export function openSecretBox(db: DatabaseSync, folder: string, given: readonly string[]): SecretBox {
  const known = [...given, ...readKeyFile(folder)];
  const keys = known.length > 0 ? known : [newEncryptionKey()];
  const box = createSecretBox(keys);
  const writes = SEALED_COLUMNS.map(({ table, id, column }) => {
    const rows = db.prepare(`SELECT ${id} AS id, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL`).all();
    return { text: `UPDATE ${table} SET ${column} = ? WHERE ${id} = ?`, rows: resealed(box, table, rows as unknown as SealedRow[]) };
  });
  if (known.length === 0) writeKeyFile(folder, keys[0] as string);
  if (keys.length > 1) resealRequests(db, box);
  for (const { text, rows } of writes) {
    const update = db.prepare(text);
    for (const { id, after } of rows) update.run(after, id);
  }
  return box;
}

/** Used while keys are rotated. Every request of an open step has an entry in the queue. */
function resealRequests(db: DatabaseSync, box: SecretBox): void {
  const rows = db
    .prepare("SELECT run_no, step_id, detail FROM queue JOIN steps USING (run_no, step_id) WHERE steps.kind IN ('fetch', 'infer')")
    .all() as { run_no: RunNo; step_id: StepId; detail: string | null }[];
  const update = db.prepare("UPDATE steps SET detail = ? WHERE run_no = ? AND step_id = ?");
  for (const { run_no: runNo, step_id: stepId, detail } of rows) {
    const after = detail === null ? null : resealedDetail(box, { runNo, stepId }, detail);
    if (after !== null) update.run(after, runNo, stepId);
  }
}
