/** Classifies errors of SQLite: errors of the disk or file, which need a retry or an operator, and errors of our own statements. */

import { StoreUnavailable } from "../contract/index.ts";

/** Primary result codes; see https://sqlite.org/rescode.html. */
const DISK_AT_FAULT: Readonly<Record<number, string>> = {
  5: "another process holds the database",
  7: "out of memory",
  8: "the data folder or the database file is read-only",
  10: "reading or writing the disk failed",
  11: "the database file is damaged",
  13: "the disk is full",
  14: "the database file cannot be opened",
  26: "the database file is not a database",
};

/** A message for people, or null if the statement caused the error. */
export function diskFault(error: unknown): string | null {
  const code = resultCode(error);
  const meaning = code === null ? undefined : DISK_AT_FAULT[code & 0xff];
  return meaning ? `${meaning} (${(error as Error).message})` : null;
}

/** StoreUnavailable if the disk caused the error, otherwise the error itself. */
export function translate(error: unknown): unknown {
  const fault = diskFault(error);
  return fault ? new StoreUnavailable(fault, error) : error;
}

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode : null;
}
