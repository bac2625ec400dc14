/** Which rows hold secrets. When a store is opened, each is checked to be readable, and encrypted again under the first key. */

import { StoreRefused } from "../../contract/index.ts";
import type { SecretBox } from "./secret-box.ts";

/** The columns that hold secrets, and the columns that identify their rows. */
export const SEALED_COLUMNS = [
  { table: "keys", id: "key_id", column: "secret" },
  { table: "webhooks", id: "webhook_id", column: "secrets" },
  { table: "store_secrets", id: "name", column: "secret" },
] as const;
/** Those that only the shared store has. */
export const SHARED_SEALED_COLUMNS = [
  { table: "databases", id: "database_no", column: "url" },
  { table: "databases", id: "database_no", column: "read_url" },
] as const;
export type SealedTable = (typeof SEALED_COLUMNS | typeof SHARED_SEALED_COLUMNS)[number]["table"];

export interface SealedRow {
  id: string | number;
  sealed: string;
}

/** The owner that an encrypted text is bound to. */
export function ownerOf(table: SealedTable, id: string | number): string {
  return `${table}/${id}`;
}

/** The rows that have to be written again. Throws StoreRefused if one cannot be decrypted. */
export function resealed(box: SecretBox, table: SealedTable, rows: readonly SealedRow[]) {
  return rows
    .filter(({ sealed }) => !box.isCurrent(sealed))
    .map(({ id, sealed }) => {
      const text = box.open(sealed, ownerOf(table, id));
      if (text !== null) return { id, before: sealed, after: box.seal(text, ownerOf(table, id)) };
      throw new StoreRefused(
        `the secret of ${id} (${table}) is encrypted with a key that is not here. Set --encryption-key to the key it was encrypted with, after the new one if there is one.`,
      );
    });
}
