/** Writes steps in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { RunNo } from "@inlet/protocol";
import { STEP_COLUMNS, STEP_COLUMNS_CHANGED, toStepRow, type WrittenStep } from "../rows/step-rows.ts";

const COLUMNS = ["run_no", ...STEP_COLUMNS, "value"];

export class StepRows {
  readonly #write;

  constructor(db: DatabaseSync) {
    this.#write = db.prepare(`
      INSERT INTO steps (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map((column) => `:${column}`).join(", ")})
      ON CONFLICT DO UPDATE SET ${STEP_COLUMNS_CHANGED.map((column) => `${column} = excluded.${column}`).join(", ")},
        event_id = coalesce(excluded.event_id, event_id)`);
  }

  write(runNo: RunNo, step: WrittenStep): void {
    this.#write.run({ run_no: runNo, ...toStepRow(step) });
  }
}
