/** Traffic in SQLite: the same counts by minute, retained for days, and by hour, retained longer. */

import type { DatabaseSync } from "node:sqlite";
import type { TrafficFigures, TrafficListParams, TrafficMinute, TrafficStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { Reader } from "../sqlite/reader.ts";
import { HOUR_MS, MINUTE_MS, sumOfMinutes } from "./policy.ts";
import { TRAFFIC_COLUMNS } from "./rows.ts";

/** Adds to the counts inside a transaction. What units of a group note is added once, before the group commits. */
export class TrafficRows {
  readonly #addMinute;
  readonly #addHour;
  #noted: TrafficMinute[] = [];

  constructor(db: DatabaseSync) {
    const prepareAdd = (table: string) =>
      db.prepare(`
        INSERT INTO ${table} (environment_id, at, ${TRAFFIC_COLUMNS.join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET ${TRAFFIC_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`);
    this.#addMinute = prepareAdd("traffic_minutes");
    this.#addHour = prepareAdd("traffic_hours");
  }

  note(minutes: readonly TrafficMinute[]): void {
    this.#noted.push(...minutes);
  }

  /** Before the commit. */
  write(): void {
    if (this.#noted.length === 0) return;
    for (const minute of sumOfMinutes(this.#noted)) this.#add(minute);
    this.#noted = [];
  }

  /** Discards the counts of a transaction that was rolled back. */
  forget(): void {
    this.#noted = [];
  }

  #add({ environmentId, at, figures }: TrafficMinute): void {
    const { accepted, duplicates, refused, runsStarted, runsCompleted, runsFailed } = figures;
    const values = [accepted, duplicates, refused, runsStarted, runsCompleted, runsFailed];
    this.#addMinute.run(environmentId, at - (at % MINUTE_MS), ...values);
    this.#addHour.run(environmentId, at - (at % HOUR_MS), ...values);
  }
}

export function trafficStore(db: DatabaseSync, writer: GroupCommit, reader: Reader, rows: TrafficRows): TrafficStore {
  const prepareExpire = (table: string) =>
    db.prepare(`
      DELETE FROM ${table} WHERE (environment_id, at) IN (SELECT environment_id, at FROM ${table} WHERE at <= ? LIMIT ?)`);
  const [expireMinutes, expireHours] = [prepareExpire("traffic_minutes"), prepareExpire("traffic_hours")];
  return {
    trafficAdd: ({ minutes }) => writer.submit(() => rows.note(minutes), minutes.length * 2),
    trafficList: (params) => reader.read("trafficList", params),
    trafficExpireMany: ({ minutesUntil, hoursUntil, limit }) =>
      writer.submit(() => {
        const removed = Number(expireMinutes.run(minutesUntil, limit).changes);
        return removed + Number(expireHours.run(hoursUntil, limit - removed).changes);
      }, limit),
  };
}

export function listTraffic(db: DatabaseSync, params: TrafficListParams): { at: number; figures: TrafficFigures }[] {
  const { environmentId, from, to, intervalMs } = params;
  const table = intervalMs < HOUR_MS ? "traffic_minutes" : "traffic_hours";
  const rows = db
    .prepare(`
      SELECT at - at % ? AS at, ${TRAFFIC_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(", ")}
      FROM ${table} WHERE environment_id = ? AND at >= ? AND at < ? GROUP BY 1 ORDER BY 1`)
    .all(intervalMs, environmentId, from, to) as unknown as TrafficRow[];
  return rows.map(({ at, accepted, duplicates, refused, runs_started, runs_completed, runs_failed }) => ({
    at,
    figures: { accepted, duplicates, refused, runsStarted: runs_started, runsCompleted: runs_completed, runsFailed: runs_failed },
  }));
}

interface TrafficRow {
  at: number;
  accepted: number;
  duplicates: number;
  refused: number;
  runs_started: number;
  runs_completed: number;
  runs_failed: number;
}
