/**
 * The key that encrypts secrets, and the secrets under it. Without a setting, the key is generated once and stored in the database, for
 * all nodes: it then protects copies of single tables, not of the whole database. A key from the setting is not stored.
 */

import type { EnvironmentId, RunNo, StepId } from "@inlet/protocol";
import type { Database } from "../../postgres/database.ts";
import { resealedDetail } from "../rows/sealed-requests.ts";
import { resealed, SEALED_COLUMNS, type SealedRow, SHARED_SEALED_COLUMNS } from "../rows/sealed-rows.ts";
import { createSecretBox, newEncryptionKey, type SecretBox } from "../rows/secret-box.ts";

export async function openSecretBox(database: Database, given: readonly string[]): Promise<SecretBox> {
  if (given.length === 0) {
    await database.query("INSERT INTO encryption_key VALUES (1, $1) ON CONFLICT DO NOTHING", [newEncryptionKey()]);
  }
  const kept = await database.query<{ key: string }>("SELECT key FROM encryption_key");
  const box = createSecretBox([...given, ...kept.map(({ key }) => key)]);
  await reseal(database, box);
  if (given.length + kept.length > 1) await resealRequests(database, box);
  return box;
}

/** Another node may change a secret at the same time: a row is written only if it is unchanged since it was read. */
async function reseal(database: Database, box: SecretBox): Promise<void> {
  for (const { table, id, column } of [...SEALED_COLUMNS, ...SHARED_SEALED_COLUMNS]) {
    const rows = await database.read<SealedRow>(`SELECT ${id} AS id, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL`);
    for (const { id: rowId, before, after } of resealed(box, table, rows)) {
      await database.query(`UPDATE ${table} SET ${column} = $1 WHERE ${id} = $2 AND ${column} = $3`, [after, rowId, before]);
    }
  }
}

const REQUESTS = `
  SELECT environment_id, run_no, step_id, detail FROM queue JOIN steps USING (environment_id, run_no, step_id)
  WHERE steps.kind IN ('fetch', 'infer') AND detail IS NOT NULL`;
const WRITE_REQUEST = `
  UPDATE steps SET detail = $1 WHERE environment_id = $2 AND run_no = ANY ($3::bigint[]) AND step_id = $4 AND detail = $5`;

interface RequestRow {
  environment_id: EnvironmentId;
  run_no: RunNo;
  step_id: string;
  detail: string;
}

/** Used while keys are rotated. Every request of an open step has an entry in the queue. */
async function resealRequests(database: Database, box: SecretBox): Promise<void> {
  for (const { environment_id, run_no, step_id, detail } of await database.read<RequestRow>(REQUESTS)) {
    const after = resealedDetail(box, { runNo: run_no, stepId: step_id as StepId }, detail);
    if (after !== null) await database.query(WRITE_REQUEST, [after, environment_id, [run_no], step_id, detail]);
  }
}
