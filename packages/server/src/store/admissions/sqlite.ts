/** Admission of runs that wait in gates, in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { FunctionNo, RunNo } from "@inlet/protocol";
import { type AdmissionStore, type RunAdmitParams, type RunAdmitResult, type RunThrottle, TIMER_LANE } from "../contract/index.ts";
import type { Limits } from "../limits/sqlite.ts";
import type { RunOrder } from "../orders/sqlite.ts";
import type { QueueEntries } from "../queue/sqlite/queue-entries.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { admissionResult, admissionRoom, admittedCount, orderedAdmissionResult } from "./policy.ts";

export interface AdmissionParts {
  writer: GroupCommit;
  limits: Limits;
  order: RunOrder;
  entries: QueueEntries;
}

interface WaitingRow {
  run_no: number;
  rank: number;
}

export function admissionStore(db: DatabaseSync, { writer, limits, order, entries }: AdmissionParts): AdmissionStore {
  const waiting = db.prepare(`
    SELECT run_no, rank FROM queue INDEXED BY queue_by_lane
    WHERE lane = ? AND lane <> '${TIMER_LANE}' AND due_at <= ? ORDER BY rank LIMIT ?`);
  const dueCall = db.prepare("SELECT lane FROM queue WHERE run_no = ? AND step_id = '' AND kind = 'call' AND due_at <= ?");
  const moveRun = db.prepare("UPDATE runs SET lane = ? WHERE run_no = ?");
  // Its timers stay in the lane of timers.
  const moveEntries = db.prepare("UPDATE queue SET lane = iif(lane = ?2, ?1, lane), home_lane = ?1 WHERE run_no = ?3");
  const readMark = db.prepare("SELECT value FROM marks WHERE function_no = ? AND kind = 'throttle' AND key = ?");
  const writeMark = db.prepare(`
    INSERT INTO marks (function_no, kind, key, value, expires_at) VALUES (?, 'throttle', ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`);

  function admit({ functionNo, limit, throttle, gates, now }: RunAdmitParams): RunAdmitResult {
    const free = limit && (limits.free([limit], now).get(limit.id) ?? 0);
    const room = admissionRoom(free);
    const found = gates
      .flatMap((gate) => (waiting.all(gate.lane, now, room) as unknown as WaitingRow[]).map((row) => ({ ...row, gate })))
      .sort((a, b) => a.rank - b.rank)
      .slice(0, room);
    const lockable = found.length;
    const throttled = throttle && lockable > 0 ? ask(functionNo, throttle, lockable) : null;
    const admitted = found.slice(0, admittedCount({ lockable, throttled }));
    for (const { run_no, gate } of admitted) move(run_no as RunNo, gate, limit);
    for (const home of new Set(admitted.map(({ gate }) => gate.home))) entries.announce(home, now);
    const left = gates.flatMap(({ lane }) => (waiting.get(lane, now, 1) ? [lane] : []));
    return admissionResult({ free, found: found.length, lockable, throttled, waiting: left });
  }

  /** The first run in order, once it is due and the throttle admits it. */
  function admitInOrder({ functionNo, throttle, gates, now }: RunAdmitParams, key: string): RunAdmitResult {
    const next = order.next(functionNo, key);
    const waitsIn = next === null ? undefined : dueCall.get(next, now)?.lane;
    const gate = gates.find(({ lane }) => lane === waitsIn);
    const lockable = gate ? 1 : 0;
    const throttled = throttle && gate ? ask(functionNo, throttle, 1) : null;
    if (gate && admittedCount({ lockable, throttled }) > 0) {
      move(next as RunNo, gate, null);
      entries.announce(gate.home, now);
    }
    const left = order.isWaiting(functionNo, key) ? gates.map(({ lane }) => lane) : [];
    return orderedAdmissionResult(throttled, { lockable, waiting: left });
  }

  const remembered = (functionNo: FunctionNo, key: string) => (readMark.get(functionNo, key)?.value as string | undefined) ?? null;

  function ask(functionNo: FunctionNo, { key, admit }: RunThrottle, wanted: number): { count: number; nextAt: number } {
    const { count, remember, expiresAt, nextAt } = admit(remembered(functionNo, key), wanted);
    if (count > 0) writeMark.run(functionNo, key, remember, expiresAt);
    return { count, nextAt };
  }

  function move(runNo: RunNo, { lane, home }: RunAdmitParams["gates"][number], limit: RunAdmitParams["limit"]): void {
    if (limit) limits.takeForRun(limit, runNo);
    order.begin(runNo);
    moveRun.run(home, runNo);
    moveEntries.run(home, lane, runNo);
  }

  return {
    runAdmitMany: (params) => writer.submit(() => (params.orderKey === null ? admit(params) : admitInOrder(params, params.orderKey))),
    throttleGet: async ({ functionNo, key }) => remembered(functionNo, key),
  };
}
