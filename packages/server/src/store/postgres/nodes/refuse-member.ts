/**
 * A database that was added to an installation is not the directory of another one: a service that is started on it would make an
 * environment of its own there. Checked where a node registers, under the lock under which a database is added: either the service
 * sees the membership, or whoever adds the database sees the node.
 */

import type { PoolClient } from "pg";
import { StoreRefused } from "../../contract/index.ts";

export async function refuseMember(client: PoolClient): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM installation WHERE database_no <> 0");
  if (rowCount === 0) return;
  throw new StoreRefused(
    "this database was added to an installation and holds environments of it. Name the directory of the installation in --database-url, or an empty database.",
  );
}
