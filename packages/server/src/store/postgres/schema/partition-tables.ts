/** The partitioned tables, and the names and bounds of their partitions. 001-tables.sql explains how tables are partitioned. */

import { DAY_MS, firstIdAt } from "@inlet/protocol";
import { firstRunNumber } from "../../runs/postgres/run-number.ts";

export type PartitionKind = "events" | "runs" | "requests";

/** The tables of a kind are partitioned alike, and their partitions are created and dropped together. */
export const TABLES: Record<PartitionKind, readonly string[]> = {
  events: ["events"],
  runs: ["runs", "batched_events", "steps", "failed_attempts", "calls"],
  requests: ["webhook_requests"],
};
export const KEYS: Record<PartitionKind, string> = { events: "event_id", runs: "run_no", requests: "request_id" };

export interface PartitionRow {
  from_day: number;
  to_day: number;
}

/** As a literal: bounds of partitions cannot be parameters. */
export function boundOf(kind: PartitionKind, day: number): string {
  if (kind === "runs") return String(firstRunNumber(day));
  return `'${kind === "requests" ? "req_" : ""}${firstIdAt(day * DAY_MS)}'`;
}

export function partitionName(table: string, fromDay: number): string {
  return fromDay === 0 ? `${table}_before` : `${table}_${new Date(fromDay * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
}
