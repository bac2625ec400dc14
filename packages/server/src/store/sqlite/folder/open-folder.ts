/** Opens a data folder for this process alone: its lock, its file at the schema of this program, and the secrets in it. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { StoreHashes } from "../../secrets/rows/key-hash.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import { openKeyHash } from "../../secrets/sqlite/key-hash.ts";
import { openSecretBox } from "../../secrets/sqlite/reseal.ts";
import { DATABASE_FILE, openReader, openWriter } from "../database.ts";
import { migrate, refuseSchema } from "../schema/migrate.ts";
import { checkFile, refuseBadFile } from "./check-file.ts";
import { lockFolder } from "./folder-lock.ts";
import { refuseMoved } from "./moved-folder.ts";
import { makePrivateFolder } from "./private-folder.ts";

export interface OpenFolder extends OpenFile {
  path: string;
  close(): void;
}

interface OpenFile {
  db: DatabaseSync;
  box: SecretBox;
  hashes: StoreHashes;
}

/** Throws StoreRefused if the folder is in use or not writable, or contains a file that must not be used. */
export function openFolder(folder: string, encryptionKeys: readonly string[]): OpenFolder {
  makePrivateFolder(folder);
  const lock = lockFolder(folder);
  const path = join(folder, DATABASE_FILE);
  try {
    refuseMoved(folder);
    const file = openWithSecrets(path, folder, encryptionKeys);
    const close = () => {
      file.db.close();
      lock.release();
    };
    return { ...file, path, close };
  } catch (error) {
    lock.release();
    throw refuseBadFile(path, error);
  }
}

function openWithSecrets(path: string, folder: string, encryptionKeys: readonly string[]): OpenFile {
  return openChecked(path, (db) => {
    const box = openSecretBox(db, folder, encryptionKeys);
    return { db, box, hashes: openKeyHash(db, box) };
  });
}

/**
 * Migrates the file to the schema of this program. Throws errors that `refuseBadFile` understands, and those of `use`: the file is then
 * closed. When its last connection is closed, SQLite moves the write-ahead log into the file, unless that connection only reads: such a
 * one checks the file and is closed last, so that one that is refused stays as it was.
 */
export function openChecked<Opened>(path: string, use: (db: DatabaseSync) => Opened): Opened {
  const reader = openExisting(path);
  try {
    if (reader) refuseUnusable(reader, path);
    const db = openWriter(path);
    try {
      if (!reader) refuseUnusable(db, path);
      migrate(db);
      return use(db);
    } catch (error) {
      db.close();
      throw error;
    }
  } finally {
    reader?.close();
  }
}

/** Null: it does not exist yet, or was left while it was created, which only one that writes can undo. */
function openExisting(path: string): DatabaseSync | null {
  return existsSync(path) && !existsSync(`${path}-journal`) ? openReader(path) : null;
}

function refuseUnusable(db: DatabaseSync, path: string): void {
  checkFile(db, path);
  refuseSchema(db, path);
}
