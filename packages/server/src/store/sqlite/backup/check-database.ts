/** Verifies a database file: SQLite's own check of every page and index, and foreign keys. */

import { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../../contract/index.ts";
import { schemaKnown } from "../schema/migrate.ts";

const FAULTS_SHOWN = 5;

/** Returns its schema version. Throws StoreRefused if it is damaged, or newer than this program. */
export function checkDatabase(path: string): number {
  const faults = databaseFaults(path);
  if (faults.length > 0) throw new StoreRefused(`the database is damaged: ${faults.join("; ")}`);
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version > schemaKnown())
      throw new StoreRefused(`the database has schema ${version}; this program knows ${schemaKnown()}. Use the newer version of Inlet.`);
    return version;
  } finally {
    db.close();
  }
}

/** The first few faults of the file. */
export function databaseFaults(path: string): string[] {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
    const checked = db.prepare(`PRAGMA integrity_check(${FAULTS_SHOWN})`).all() as { integrity_check: string }[];
    const broken = db.prepare("PRAGMA foreign_key_check").all() as { table: string; rowid: number; parent: string }[];
    return [
      ...checked.map((row) => row.integrity_check).filter((text) => text !== "ok"),
      ...broken.map(({ table, rowid, parent }) => `row ${rowid} of ${table} refers to a row of ${parent} that is not there`),
    ].slice(0, FAULTS_SHOWN);
  } catch (error) {
    return [(error as Error).message];
  } finally {
    db?.close();
  }
}
