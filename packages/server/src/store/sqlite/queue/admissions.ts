/** Admission of runs that wait in gates, in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { FunctionNo, RunNo } from "@inlet/protocol";
import { ADMISSIONS_MAX, type AdmissionStore, type RunAdmitParams, type RunAdmitResult, type RunThrottle } from "../../contract/index.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { Lanes } from "./lanes.ts";
import type { Limits } from "./limits.ts";
import type { QueueEntries } from "./queue-entries.ts";
import type { RunOrder } from "./run-order.ts";

export interface AdmissionParts {
  writer: GroupCommit;
  lanes: Lanes;
  limits: Limits;
  order: RunOrder;
  entries: QueueEntries;
}

interface WaitingRow {
  run_no: number;
  rank: number;
}

const NOBODY = { count: 0, nextAt: null };
const ONE = { count: 1, nextAt: null };

export function admissionStore(db: DatabaseSync, { writer, lanes, limits, order, entries }: AdmissionParts): AdmissionStore {
  const waiting = db.prepare(`
    SELECT run_no, rank FROM queue INDEXED BY queue_by_lane WHERE lane_no = ? AND due_at <= ? ORDER BY rank LIMIT ?`);
  const dueCall = db.prepare("SELECT lane_no FROM queue WHERE run_no = ? AND step_id = '' AND kind = 'call' AND due_at <= ?");
  const moveRun = db.prepare("UPDATE runs SET lane_no = ? WHERE run_no = ?");
  // Its timers stay in the lane of timers.
  const moveEntries = db.prepare("UPDATE queue SET lane_no = iif(lane_no = ?2, ?1, lane_no), home_lane_no = ?1 WHERE run_no = ?3");
  const readMark = db.prepare("SELECT value FROM marks WHERE function_no = ? AND kind = 'throttle' AND key = ?");
  const writeMark = db.prepare(`
    INSERT INTO marks (function_no, kind, key, value, expires_at) VALUES (?, 'throttle', ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`);

  function admit({ functionNo, limit, throttle, gates, now }: RunAdmitParams): RunAdmitResult {
    const room = Math.min(limit ? limits.free(limit, now) : ADMISSIONS_MAX, ADMISSIONS_MAX);
    // Reading one more than can be admitted shows whether others are left waiting.
    const everyone = gates
      .flatMap((gate) => (waiting.all(lanes.no(gate.lane), now, room + 1) as unknown as WaitingRow[]).map((row) => ({ ...row, gate })))
      .sort((a, b) => a.rank - b.rank);
    const wanted = Math.min(room, everyone.length);
    const { count, nextAt } = throttle && wanted > 0 ? throttled(functionNo, throttle, wanted) : { count: wanted, nextAt: null };
    const admitted = everyone.slice(0, count);
    for (const { run_no, gate } of admitted) move(run_no as RunNo, gate, limit);
    for (const home of new Set(admitted.map(({ gate }) => gate.home))) entries.announce(home, now);
    const left = new Set(everyone.slice(count).map(({ gate }) => gate.lane));
    const isFull = limit !== null && limits.free(limit, now) === 0;
    const more = left.size > 0 && count === wanted && !isFull;
    return { admitted: count, waiting: [...left], more, nextAt: left.size > 0 && count < wanted ? nextAt : null };
  }

  /** The first run in order, once it is due and the throttle admits it. */
  function admitInOrder({ functionNo, throttle, gates, now }: RunAdmitParams, key: string): RunAdmitResult {
    const next = order.next(functionNo, key);
    const laneNo = next === null ? undefined : dueCall.get(next, now)?.lane_no;
    const gate = gates.find(({ lane }) => lanes.no(lane) === laneNo);
    const { count, nextAt } = !gate ? NOBODY : throttle ? throttled(functionNo, throttle, 1) : ONE;
    if (gate && count > 0) {
      move(next as RunNo, gate, null);
      entries.announce(gate.home, now);
    }
    const waiting = order.isWaiting(functionNo, key) ? gates.map(({ lane }) => lane) : [];
    return { admitted: count, waiting, more: false, nextAt: gate && count === 0 ? nextAt : null };
  }

  function throttled(functionNo: FunctionNo, { key, admit }: RunThrottle, wanted: number): { count: number; nextAt: number } {
    const { count, remember, expiresAt, nextAt } = admit((readMark.get(functionNo, key)?.value as string | undefined) ?? null, wanted);
    if (count > 0) writeMark.run(functionNo, key, remember, expiresAt);
    return { count, nextAt };
  }

  function move(runNo: RunNo, { lane, home }: RunAdmitParams["gates"][number], limit: RunAdmitParams["limit"]): void {
    if (limit) limits.takeForRun(limit, runNo);
    order.begin(runNo);
    const homeNo = lanes.no(home);
    moveRun.run(homeNo, runNo);
    moveEntries.run(homeNo, lanes.no(lane), runNo);
  }

  return {
    runAdmitMany: (params) => writer.submit(() => (params.orderKey === null ? admit(params) : admitInOrder(params, params.orderKey))),
  };
}
