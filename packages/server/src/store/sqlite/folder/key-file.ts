/**
 * The key that encrypts secrets if no setting provides one: a file next to the database that only its owner can read. One key
 * per line; the first encrypts. It is created at the first start and never changed by the service.
 */

import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ENCRYPTION_KEY_UNITS_MIN } from "@inlet/protocol";
import { StoreRefused } from "../../contract/index.ts";

export const KEY_FILE = "inlet.key";

/** Empty if there is no such file. */
export function readKeyFile(folder: string): string[] {
  const path = join(folder, KEY_FILE);
  const keys = lines(path);
  if (keys.some((key) => key.length < ENCRYPTION_KEY_UNITS_MIN)) {
    throw new StoreRefused(`${path} holds a key of fewer than ${ENCRYPTION_KEY_UNITS_MIN} characters: it is damaged. Restore it.`);
  }
  return keys;
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new StoreRefused(`the encryption key ${path} cannot be read: ${(error as Error).message}`, error);
  }
}

/** On disk before anything is encrypted with it. */
export function writeKeyFile(folder: string, key: string): void {
  const path = join(folder, KEY_FILE);
  try {
    const file = openSync(path, "w", 0o600);
    writeSync(file, `${key}\n`);
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    throw new StoreRefused(`the encryption key ${path} cannot be written: ${(error as Error).message}`, error);
  }
}
