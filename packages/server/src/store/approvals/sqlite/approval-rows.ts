/** Rows of approvals in SQLite, written inside transactions: with the run that asks, the wait that a decision ends, and the end of a run. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, EventId, RunNo, StepId } from "@inlet/protocol";
import type { Approval, ApprovalStatus, MadeDecision, NewApproval } from "../../contract/index.ts";
import { statusAtEnd } from "../policy.ts";
import { type ApprovalRow, NEW_APPROVAL_COLUMNS, newApprovalRow, toApproval, type WaitingRunOf } from "../rows.ts";

const NAMES = Object.keys(NEW_APPROVAL_COLUMNS);

export class ApprovalRows {
  readonly #insert;
  readonly #get;
  readonly #pending;
  readonly #pendingOfRun;
  readonly #link;
  readonly #decide;
  readonly #deliver;
  readonly #end;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(`INSERT INTO approvals (${NAMES.join(", ")}) VALUES (${NAMES.map(() => "?").join(", ")})`);
    this.#get = db.prepare("SELECT * FROM approvals WHERE approval_id = ?");
    this.#pending = db.prepare("SELECT * FROM approvals WHERE environment_id = ? AND wait_name = ? AND is_pending = 1");
    this.#pendingOfRun = db.prepare("SELECT * FROM approvals WHERE run_no = ? AND is_pending = 1");
    this.#link = db.prepare("UPDATE approvals SET run_no = ?, run_id = ?, function_no = ?, step_id = ? WHERE approval_id = ?");
    this.#decide = db.prepare(`
      UPDATE approvals SET status = ?, ended_at = ?, decided_by = ?, comment = ?, decision_data = ?, decision_event_id = ?, is_pending = ?
      WHERE approval_id = ?`);
    this.#deliver = db.prepare("UPDATE approvals SET is_pending = 0 WHERE approval_id = ?");
    this.#end = db.prepare("UPDATE approvals SET status = ?, ended_at = coalesce(ended_at, ?), is_pending = 0 WHERE approval_id = ?");
  }

  get(id: string): Approval | null {
    const row = this.#get.get(id) as ApprovalRow | undefined;
    return row ? toApproval(row) : null;
  }

  insert(environmentId: EnvironmentId, approval: NewApproval, run: WaitingRunOf | null): void {
    this.#insert.run(...Object.values(newApprovalRow(environmentId, approval, run)));
  }

  /** The approval that the step under this name is answered by: open, or with a decision that is kept. */
  pending(environmentId: EnvironmentId, waitName: string): Approval | null {
    const row = this.#pending.get(environmentId, waitName) as ApprovalRow | undefined;
    return row ? toApproval(row) : null;
  }

  /** This step waits for it. */
  link({ id }: Approval, run: WaitingRunOf, stepId: StepId): void {
    this.#link.run(run.no, run.id, run.functionNo, stepId, id);
  }

  /** `isKept`: until a step waits for it. */
  decide({ id }: Approval, made: MadeDecision, { at, eventId, isKept }: { at: number; eventId: EventId; isKept: boolean }): void {
    const { decision, by, comment, data } = made;
    this.#decide.run(decision, at, by, comment, data, eventId, isKept ? 1 : 0, id);
  }

  /** The step that waited has its decision. */
  noteDelivered({ id }: Approval): void {
    this.#deliver.run(id);
  }

  end({ id }: Approval, status: ApprovalStatus, at: number): void {
    this.#end.run(status, at, id);
  }

  /** Nobody waits for them any more. */
  endRun(runNo: RunNo, now: number): void {
    for (const row of this.#pendingOfRun.all(runNo) as unknown as ApprovalRow[]) {
      const approval = toApproval(row);
      this.end(approval, statusAtEnd(approval, now), Math.min(now, approval.expiresAt));
    }
  }
}
