/**
 * The format of a backup: a header of 4 KiB with JSON, which contains the length and the SHA-256 of the rest, then the database itself.
 * PostgreSQL has no counterpart: pg_dump makes consistent backups while nodes run.
 */

import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { StoreRefused } from "../../contract/index.ts";

export const HEADER_BYTES = 4_096;
const CHUNK_BYTES = 1024 * 1024;
const FORMAT = 1;

export interface BackupHeader {
  createdAt: string;
  schema: number;
  /** The key that encrypts secrets, if it is stored in the folder; null: it comes from a setting. */
  encryptionKey: string | null;
  bytes: number;
  sha256: string;
}

export function writeHeader(file: number, header: BackupHeader): void {
  const text = JSON.stringify({ inletBackup: FORMAT, ...header });
  writeSync(file, Buffer.from(`${text.padEnd(HEADER_BYTES - 1)}\n`), 0, HEADER_BYTES, 0);
}

/** Throws StoreRefused if the file is not a backup. */
export function readHeader(path: string): BackupHeader {
  const file = openBackup(path);
  try {
    const buffer = Buffer.alloc(HEADER_BYTES);
    const length = readSync(file, buffer, 0, HEADER_BYTES, 0);
    const { inletBackup, createdAt, schema, encryptionKey = null, bytes, sha256 } = JSON.parse(buffer.toString("utf8", 0, length));
    if (inletBackup !== FORMAT) throw new Error("another format");
    return { createdAt, schema, encryptionKey, bytes, sha256 };
  } catch (error) {
    throw new StoreRefused(`${path} is not a backup made by "inlet backup", or its beginning is damaged`, error);
  } finally {
    closeSync(file);
  }
}

function openBackup(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new StoreRefused(`the backup ${path} cannot be read: ${(error as Error).message}`, error);
  }
}

/** Copies a file from one offset to another of the target. Returns the SHA-256 of the copied bytes. */
export function copyHashed(from: string, skipBytes: number, target: number, offset: number): { sha256: string; bytes: number } {
  const source = openSync(from, "r");
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let bytes = 0;
  try {
    for (;;) {
      const length = readSync(source, chunk, 0, CHUNK_BYTES, skipBytes + bytes);
      if (length === 0) return { sha256: hash.digest("hex"), bytes };
      hash.update(chunk.subarray(0, length));
      // A disk that fills up takes a part of a write without an error.
      if (writeSync(target, chunk, 0, length, offset + bytes) < length) throw new Error("the disk is full");
      bytes += length;
    }
  } finally {
    closeSync(source);
  }
}

/** Called before anything is copied: a truncated file is detected by its length. */
export function refuseCutOff(path: string, { bytes }: BackupHeader): void {
  const found = Math.max(0, statSync(path).size - HEADER_BYTES);
  if (found !== bytes) throw new StoreRefused(`the backup ${path} is damaged: it holds ${found} bytes of data instead of ${bytes}`);
}
