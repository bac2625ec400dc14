/** Opens a data folder for this process alone: its lock, its file at the schema of this program, and the secrets in it. */

import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { StoreHashes } from "../../secrets/rows/key-hash.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import { openKeyHash } from "../../secrets/sqlite/key-hash.ts";
import { openSecretBox } from "../../secrets/sqlite/reseal.ts";
import { DATABASE_FILE, openWriter } from "../database.ts";
import { migrate } from "../schema/migrate.ts";
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
  const db = openChecked(path);
  try {
    const box = openSecretBox(db, folder, encryptionKeys);
    return { db, box, hashes: openKeyHash(db, box) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Migrates the file to the schema of this program. Throws errors that `refuseBadFile` understands. */
export function openChecked(path: string): DatabaseSync {
  const db = openWriter(path);
  try {
    checkFile(db, path);
    migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
