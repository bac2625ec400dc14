/** No node works on a database into which an embedded store is still being copied: it would act on incomplete data. */

import type { PoolClient } from "pg";
import { StoreRefused } from "../../contract/index.ts";

export async function refuseIncompleteCopy(client: PoolClient): Promise<void> {
  const { rowCount } = await client.query("SELECT 1 FROM store_copy WHERE finished_at IS NULL");
  if (rowCount === 0) return;
  throw new StoreRefused(
    'an embedded store is being copied into this database and is not complete. Start "inlet migrate-store" with the same folder again, or empty the database.',
  );
}
