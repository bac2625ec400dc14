/** The databases on which environments are placed, in the directory. Few rows, read whole. */

import { DATABASES_MAX, type DatabaseStore, type PlacedDatabase } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import { ownerOf } from "../secrets/rows/sealed-rows.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";

interface DatabaseRow {
  database_no: number;
  name: string;
  url: string;
  read_url: string | null;
  created_at: number;
}

const LIST = "SELECT * FROM databases ORDER BY database_no";
const INSERT = "INSERT INTO databases (database_no, name, url, read_url, created_at) VALUES ($1, $2, $3, $4, $5)";

export function databaseStore(database: Database, announced: Announced, box: SecretBox): DatabaseStore {
  const toDatabase = ({ database_no: no, name, url, read_url, created_at: createdAt }: DatabaseRow): PlacedDatabase => {
    const opened = (sealed: string) => openUrl(box, no, sealed);
    return { no, name, url: opened(url), readUrl: read_url === null ? null : opened(read_url), createdAt };
  };
  return {
    databaseList: async () => (await database.query<DatabaseRow>(LIST)).map(toDatabase),
    databaseAdd: ({ name, url, readUrl, createdAt }) =>
      announced("directory", async (client) => {
        await client.query("LOCK TABLE databases IN EXCLUSIVE MODE");
        const { rows } = await client.query<DatabaseRow>(LIST);
        if (rows.some((row) => row.name === name)) return { refused: "database_exists", reason: `A database "${name}" already exists.` };
        const no = (rows.at(-1)?.database_no ?? 0) + 1;
        if (no >= DATABASES_MAX)
          return { refused: "databases_too_many", reason: `There are ${DATABASES_MAX - 1} added databases already.` };
        const sealed = (text: string) => box.seal(text, ownerOf("databases", no));
        await client.query(INSERT, [no, name, sealed(url), readUrl === null ? null : sealed(readUrl), createdAt]);
        return { no, name, url, readUrl, createdAt };
      }),
  };
}

function openUrl(box: SecretBox, no: number, sealed: string): string {
  const url = box.open(sealed, ownerOf("databases", no));
  if (url === null) throw new Error(`the URL of the database ${no} is encrypted with a key that is not here`);
  return url;
}
