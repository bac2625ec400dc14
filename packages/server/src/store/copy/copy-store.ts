/**
 * Copies a whole embedded store to an empty PostgreSQL database. It can be interrupted at any time and started again: rows and the cursor
 * are written in one transaction, so nothing is copied twice or left out. From the first row on, no service can use the folder, and
 * until the copy is complete, none can use the database (moved-folder.ts, incomplete-copy.ts).
 */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../contract/index.ts";
import { type Database, PostgresDatabase } from "../postgres/database.ts";
import { migrate } from "../postgres/schema/migrate.ts";
import { DATABASE_FILE } from "../sqlite/database.ts";
import { refuseBadFile } from "../sqlite/folder/check-file.ts";
import { lockFolder } from "../sqlite/folder/folder-lock.ts";
import { readKeyFile } from "../sqlite/folder/key-file.ts";
import { type Move, readMove, writeMove } from "../sqlite/folder/moved-folder.ts";
import { openChecked } from "../sqlite/folder/open-folder.ts";
import { COPIED_TABLES } from "./copied-tables.ts";
import { copyTable } from "./copy-table.ts";
import { beginCopy, finishCopy } from "./copy-target.ts";

/** Counting a large table takes long. */
const STATEMENT_MS = 3_600_000;

export interface CopyStoreOptions {
  folder: string;
  url: string;
  onProgress(progress: CopyProgress): void;
}

export interface CopyProgress {
  table: string;
  rowsDone: number;
  rowsTotal: number;
}

export interface CopyReport {
  /** Whether an earlier copy was continued. */
  isResumed: boolean;
  rows: number;
  tables: { name: string; rows: number }[];
}

/** Throws StoreRefused if the folder or the database must not be used, StoreUnavailable if the connection breaks. */
export async function copyStore({ folder, url, onProgress }: CopyStoreOptions): Promise<CopyReport> {
  const path = join(folder, DATABASE_FILE);
  if (!existsSync(path)) throw new StoreRefused(`there is no store in the folder ${folder}: ${path} does not exist.`);
  const lock = lockFolder(folder);
  try {
    const source = openSource(path);
    const database = new PostgresDatabase({
      url,
      listenUrl: null,
      connectionsMax: 2,
      timeoutMs: STATEMENT_MS,
      onFault: () => undefined,
      onRecovery: () => undefined,
    });
    try {
      await migrate(database);
      return await copyAll(source, database, { folder, url, onProgress });
    } finally {
      await database.stop();
      source.close();
    }
  } finally {
    lock.release();
  }
}

function openSource(path: string): DatabaseSync {
  try {
    return openChecked(path, (db) => db);
  } catch (error) {
    throw refuseBadFile(path, error);
  }
}

async function copyAll(source: DatabaseSync, database: Database, { folder, url, onProgress }: CopyStoreOptions): Promise<CopyReport> {
  const { host, pathname } = new URL(url);
  const to = `postgres://${host}${pathname}`;
  // The folder is locked before the first row is copied.
  const copy = await beginCopy(database, { known: readMove(folder), to, begin: () => closeFolder(folder, to) });
  const totals = new Map(COPIED_TABLES.map(({ name }) => [name, countRows(source, name)]));
  const rowsTotal = [...totals.values()].reduce((sum, rows) => sum + rows, 0);
  let rowsDone = 0;
  for (const table of COPIED_TABLES) {
    const before = rowsDone;
    await copyTable({
      source,
      database,
      table,
      beganAt: copy.beganAt,
      onRows(rows) {
        rowsDone = before + rows;
        onProgress({ table: table.name, rowsDone, rowsTotal });
      },
    });
  }
  if (!copy.isFinished) {
    await bringKey(database, folder);
    await finishCopy(database, totals);
  }
  const tables = [...totals].map(([name, rows]) => ({ name, rows }));
  return { isResumed: copy.isResumed, rows: rowsTotal, tables };
}

/** Secrets are copied in their encrypted form. If the key comes from a setting, the nodes must have the same setting. */
async function bringKey(database: Database, folder: string): Promise<void> {
  const [key] = readKeyFile(folder);
  if (key === undefined) return;
  await database.query("INSERT INTO encryption_key VALUES (1, $1) ON CONFLICT (only_row) DO UPDATE SET key = excluded.key", [key]);
}

function closeFolder(folder: string, to: string): Move {
  const move = { copyId: randomUUID(), to };
  writeMove(folder, move);
  return move;
}

function countRows(source: DatabaseSync, table: string): number {
  return source.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows as number;
}
