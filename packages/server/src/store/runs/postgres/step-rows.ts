/** Reads and writes steps in PostgreSQL. */

import type { RunNo } from "@inlet/protocol";
import { insertInto } from "../../postgres/json-rows.ts";
import { STEP_COLUMNS, STEP_COLUMNS_CHANGED, type StepRowWithValue, toStepRow, type WrittenStep } from "../rows/step-rows.ts";

const TYPES: Readonly<Record<keyof StepRowWithValue, string>> = {
  step_id: "text",
  kind: "text",
  name: "text",
  status: "text",
  position: "integer",
  done_position: "integer",
  started_at: "bigint",
  ended_at: "bigint",
  attempts: "integer",
  until: "bigint",
  detail: "text",
  event_id: "text",
  value: "text",
};

export const SELECT_STEPS = `SELECT run_no, ${STEP_COLUMNS.join(", ")} FROM steps`;

/** One row per step: a statement can write a row only once. */
export const WRITE_STEPS = `
  ${insertInto("steps", { environment_id: "integer", run_no: "bigint", ...TYPES })}
  ON CONFLICT (environment_id, run_no, step_id) DO UPDATE SET
    ${STEP_COLUMNS_CHANGED.map((column) => `${column} = excluded.${column}`).join(", ")},
    event_id = coalesce(excluded.event_id, steps.event_id)`;

export function writtenStep({ runNo, step }: { runNo: RunNo; step: WrittenStep }) {
  return { run_no: runNo, ...toStepRow(step) };
}
