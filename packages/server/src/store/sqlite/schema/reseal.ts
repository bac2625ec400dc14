/** The key that secrets are encrypted with, and the secrets under it: see key-file.ts. */

import type { DatabaseSync } from "node:sqlite";
import { resealed, SEALED_COLUMNS, type SealedRow } from "../../rows/sealed-rows.ts";
import { createSecretBox, newEncryptionKey, type SecretBox } from "../../rows/secret-box.ts";
import { readKeyFile, writeKeyFile } from "../folder/key-file.ts";

/** The keys of the setting come before those of the file. A file is made only where nothing is encrypted yet. */
export function openSecretBox(db: DatabaseSync, folder: string, given: readonly string[]): SecretBox {
  const known = [...given, ...readKeyFile(folder)];
  const keys = known.length > 0 ? known : [newEncryptionKey()];
  const box = createSecretBox(keys);
  const writes = SEALED_COLUMNS.map(({ table, id, column }) => {
    const rows = db.prepare(`SELECT ${id} AS id, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL`).all();
    return { text: `UPDATE ${table} SET ${column} = ? WHERE ${id} = ?`, rows: resealed(box, table, rows as unknown as SealedRow[]) };
  });
  if (known.length === 0) writeKeyFile(folder, keys[0] as string);
  for (const { text, rows } of writes) {
    const update = db.prepare(text);
    for (const { id, after } of rows) update.run(after, id);
  }
  return box;
}
