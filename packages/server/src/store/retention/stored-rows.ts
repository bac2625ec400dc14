/** How the size of a stored row is computed, the same on both engines, and the order in which rows are removed. */

import type { StoredKind } from "./contract.ts";

export interface StoredRows {
  table: string;
  /** Bytes of one row. The constants stand for what surrounds the texts. */
  size: string;
  time: string;
  order: string;
}

export const STORED_ROWS: Readonly<Record<StoredKind, StoredRows>> = {
  events: {
    table: "events",
    size: "octet_length(data) + coalesce(octet_length(extras), 0) + 32",
    time: "received_at",
    order: "received_at, sequence",
  },
  runs: {
    table: "runs",
    size: "state_bytes + coalesce(octet_length(output), 0) + coalesce(octet_length(error), 0) + 32",
    time: "created_at",
    order: "created_at, run_no",
  },
  requests: {
    table: "webhook_requests",
    size: "coalesce(octet_length(body), 0) + coalesce(octet_length(body_base64), 0) + octet_length(headers) + 32",
    time: "received_at",
    order: "received_at, sequence",
  },
};

/** The statement takes the environment as its first parameter, and the bytes as its second. */
export function oldestRows({ table, size, time, order }: StoredRows, environment: string, bytes: string): string {
  return `
    SELECT count(*) AS rows, max(at) AS until FROM (
      SELECT ${time} AS at, ${size} AS size, sum(${size}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS total
      FROM ${table} WHERE environment_id = ${environment}) AS walked
    WHERE total - size < ${bytes}`;
}
