/** What counts as the stored bytes of an environment, on both engines. */

import type { StoredKind } from "./contract.ts";

/** What surrounds the texts of a row: its ids, times and name. */
const ROW_BYTES = 32;

export interface StoredRows {
  table: string;
  /** Bytes of one row, as an expression over its columns. */
  size: string;
  /** The column with the time by which rows are old. */
  time: string;
  /** Whether a row may be removed, as a condition over its columns. */
  isRemovable: string;
}

/** A run knows the size of its steps. */
export const STORED_ROWS: Readonly<Record<StoredKind, StoredRows>> = {
  events: { table: "events", size: sizeOf("data", "extras"), time: "received_at", isRemovable: "TRUE" },
  runs: { table: "runs", size: `state_bytes + ${sizeOf("output", "error")}`, time: "created_at", isRemovable: "ended_at IS NOT NULL" },
  requests: { table: "webhook_requests", size: sizeOf("body", "body_base64", "headers"), time: "received_at", isRemovable: "TRUE" },
};

function sizeOf(...texts: readonly string[]): string {
  return [...texts.map((column) => `coalesce(octet_length(${column}), 0)`), ROW_BYTES].join(" + ");
}
