/** Inspects a data folder without using it: for diagnosis before a start, or while the service runs. */

import { accessSync, constants, existsSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DATABASE_FILE } from "../database.ts";
import { diskFault } from "../failures.ts";
import { schemaKnown } from "../schema/migrate.ts";
import { LOCK_FILE, PID_FILE, SQLITE_BUSY } from "./folder-lock.ts";
import { readMove } from "./moved-folder.ts";

export interface FolderInspection {
  exists: boolean;
  /** Null if files can be written there, otherwise the reason. */
  notWritable: string | null;
  freeBytes: number;
  /** Of the database file and its log. */
  usedBytes: number;
  /** Other users of the machine can read it. */
  isOpenToOthers: boolean;
  /** The process that currently uses it. */
  inUseBy: string | null;
  /** Where its data was moved to; null if it was not moved. */
  movedTo: string | null;
  /** Null if there is no database. */
  schema: { version: number; known: number } | null;
  /** Why the database cannot be read. */
  databaseFault: string | null;
}

export function inspectFolder(folder: string): FolderInspection {
  const exists = existsSync(folder);
  const path = exists ? folder : nearestFolder(resolve(folder));
  const { bavail, bsize } = statfsSync(path);
  return {
    exists,
    notWritable: writeFault(path, exists),
    freeBytes: bavail * bsize,
    usedBytes: exists ? ["", "-wal"].reduce((sum, end) => sum + sizeOf(join(folder, DATABASE_FILE + end)), 0) : 0,
    isOpenToOthers: exists && process.platform !== "win32" && (statSync(folder).mode & 0o077) !== 0,
    inUseBy: exists ? userOf(folder) : null,
    movedTo: exists ? (readMove(folder)?.to ?? null) : null,
    ...schemaOf(join(folder, DATABASE_FILE)),
  };
}

/** The folder in which a missing data folder would be created. */
function nearestFolder(folder: string): string {
  const parent = dirname(folder);
  return existsSync(parent) || parent === folder ? parent : nearestFolder(parent);
}

function writeFault(path: string, exists: boolean): string | null {
  const trial = join(path, `.inlet-doctor-${process.pid}`);
  try {
    if (!statSync(path).isDirectory()) return "it is not a folder";
    // Nothing is written to the parent of a missing folder: its permissions are enough.
    if (!exists) accessSync(path, constants.W_OK);
    else {
      writeFileSync(trial, "");
      rmSync(trial);
    }
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A process that uses the folder holds an exclusive lock, which blocks even a reader. */
function userOf(folder: string): string | null {
  const path = join(folder, LOCK_FILE);
  if (!existsSync(path)) return null;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return null;
  } catch (error) {
    return (error as { errcode?: number }).errcode === SQLITE_BUSY ? pidIn(folder) : null;
  } finally {
    db?.close();
  }
}

function pidIn(folder: string): string {
  try {
    return readFileSync(join(folder, PID_FILE), "utf8").trim();
  } catch {
    return "unknown";
  }
}

function schemaOf(path: string): Pick<FolderInspection, "schema" | "databaseFault"> {
  if (!existsSync(path)) return { schema: null, databaseFault: null };
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    return { schema: { version, known: schemaKnown() }, databaseFault: null };
  } catch (error) {
    return { schema: null, databaseFault: diskFault(error) ?? (error as Error).message };
  } finally {
    db?.close();
  }
}
