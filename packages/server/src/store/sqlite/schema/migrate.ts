/** Migrates a database file to the schema of this program: numbered SQL files, forward only, each in its own transaction. */

import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../../contract/index.ts";

const MIGRATIONS = new URL("./", import.meta.url);

/** Schemas up to this number were written by unreleased programs. */
const UNRELEASED = 200;

/** One that this program cannot migrate from. */
export function refuseSchema(db: DatabaseSync, path: string): void {
  const written = schemaVersion(db);
  if (written > 0 && written <= UNRELEASED) {
    throw new StoreRefused(
      `the database ${path} was written by a version of Inlet from before its first release, which this program cannot read. Move the data folder away to start empty, or go on with that version.`,
    );
  }
  if (written > schemaKnown()) {
    throw new StoreRefused(
      `the database ${path} has schema ${written}, this program knows schemas up to ${schemaKnown()}: it was written by a newer version of Inlet. Start that version, or restore an older copy of the data folder.`,
    );
  }
}

export function migrate(db: DatabaseSync): void {
  const files = migrationFiles();
  for (let next = Math.max(schemaVersion(db) - UNRELEASED, 0); next < files.length; next++) {
    const sql = readFileSync(new URL(files[next] as string, MIGRATIONS), "utf8");
    db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${UNRELEASED + next + 1}; COMMIT`);
  }
}

/** The newest schema that this program knows. */
export function schemaKnown(): number {
  return UNRELEASED + migrationFiles().length;
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
