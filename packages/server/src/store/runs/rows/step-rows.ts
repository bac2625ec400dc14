/** The columns of a step, for both engines: a column that is added here is read and written everywhere. */

import type { EventId, StepId } from "@inlet/protocol";
import type { StepKind, StepRecord, StepStatus } from "../../contract/index.ts";

/** Without its value, which may be large. */
export interface StepRow {
  step_id: string;
  kind: string;
  name: string;
  status: string;
  position: number;
  done_position: number | null;
  started_at: number;
  ended_at: number | null;
  attempts: number;
  until: number | null;
  detail: string | null;
  event_id: string | null;
}

export interface StepRowWithValue extends StepRow {
  value: string | null;
}

/** A step as it is written. */
export interface WrittenStep extends StepRecord {
  value?: string | null;
}

export function toStepRecord(row: StepRow): StepRecord {
  return {
    id: row.step_id as StepId,
    kind: row.kind as StepKind,
    name: row.name,
    status: row.status as StepStatus,
    position: row.position,
    donePosition: row.done_position,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    attempts: row.attempts,
    until: row.until,
    detail: row.detail,
    eventId: row.event_id as EventId | null,
  };
}

export function toStepRow(step: WrittenStep): StepRowWithValue {
  return {
    step_id: step.id,
    kind: step.kind,
    name: step.name,
    status: step.status,
    position: step.position,
    done_position: step.donePosition,
    started_at: step.startedAt,
    ended_at: step.endedAt,
    attempts: step.attempts,
    until: step.until,
    detail: step.detail,
    event_id: step.eventId ?? null,
    value: step.value ?? null,
  };
}

/** In the order of the table. */
export const STEP_COLUMNS: readonly (keyof StepRow)[] = [
  "step_id",
  "kind",
  "name",
  "status",
  "position",
  "done_position",
  "started_at",
  "ended_at",
  "attempts",
  "until",
  "detail",
  "event_id",
];

/** A step that is written again stays where it stands and began when it began. Its event is kept unless there is a new one. */
const KEPT: readonly string[] = ["step_id", "name", "position", "started_at", "event_id"];
export const STEP_COLUMNS_CHANGED = [...STEP_COLUMNS, "value"].filter((column) => !KEPT.includes(column));
