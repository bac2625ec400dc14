/** Brings a database file to the schema of this program: numbered SQL files, forward only, each in a transaction of its own. */

import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../contract/index.ts";

const MIGRATIONS = new URL("./migrations/", import.meta.url);

export function migrate(db: DatabaseSync, path: string): void {
  const files = migrationFiles();
  const version = schemaVersion(db);
  if (version > files.length) {
    throw new StoreRefused(
      `the database ${path} has schema ${version}, this program knows schemas up to ${files.length}: it was written by a newer version of Inlet. Start that version, or restore an older copy of the data folder.`,
    );
  }
  for (let next = version; next < files.length; next++) {
    const sql = readFileSync(new URL(files[next] as string, MIGRATIONS), "utf8");
    db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${next + 1}; COMMIT`);
  }
}

/** The newest schema this program knows. */
export function schemaKnown(): number {
  return migrationFiles().length;
}

function migrationFiles(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith(".sql"))
    .sort();
}

function schemaVersion(db: DatabaseSync): number {
  const row = db.prepare("PRAGMA user_version").get() as { user_version: number };
  return row.user_version;
}
