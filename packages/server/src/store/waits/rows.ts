/** Rows of waits become records. */

import type { RunNo, StepId } from "@inlet/protocol";
import type { NewWait, StoredWait } from "../contract/index.ts";

/** Used instead of a path: every event of the name is tested. */
export const ANY_PATH = "*";

/** A wait as it is stored. */
export interface FoundWait extends Pick<StoredWait, "kind" | "eventName" | "runNo" | "stepId" | "expression" | "since" | "expiresAt"> {
  no: number;
  /** The value that an event must have at a path, as stored; null: every event of the name is tested. */
  kept: { path: string; key: string } | null;
}

export const WAIT_COLUMNS = "wait_no, event_name, match_path, match_key, kind, run_no, step_id, expression, since, expires_at";

export interface WaitRow {
  wait_no: number;
  event_name: string;
  match_path: string;
  match_key: string;
  kind: NewWait["kind"];
  run_no: RunNo;
  step_id: string | null;
  expression: string | null;
  since: number;
  expires_at: number;
}

/** How far a wait has looked back. */
export interface LookedBack {
  at: number;
  no: number;
}

export interface LookRow {
  look_at: number;
  look_no: number;
}

export function toWait(row: WaitRow): FoundWait {
  return {
    no: row.wait_no,
    kind: row.kind,
    eventName: row.event_name,
    runNo: row.run_no,
    since: row.since,
    expiresAt: row.expires_at,
    expression: row.expression,
    stepId: row.step_id as StepId | null,
    kept: keptOf({ path: row.match_path, key: row.match_key }),
  };
}

export function toLookingWait(row: WaitRow & LookRow): FoundWait & { looked: LookedBack } {
  return { ...toWait(row), looked: { at: row.look_at, no: row.look_no } };
}

/** Null: every event of the name is tested. */
export function keptOf(match: { path: string; key: string }): FoundWait["kept"] {
  return match.path === ANY_PATH ? null : { path: match.path, key: match.key };
}
