/** Writes a run with its first entry, inside the transaction of the event that starts it. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, RunNo } from "@inlet/protocol";
import type { NewRun } from "../../contract/index.ts";
import type { InsertEvents } from "../../events/sqlite/insert-events.ts";
import type { RunOrder } from "../../orders/sqlite.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { QueueEntries } from "../../queue/sqlite/queue-entries.ts";
import { addRun } from "../../usage/policy.ts";
import type { UsageRows } from "../../usage/sqlite.ts";
import type { Waits } from "../../waits/sqlite/waits.ts";
import type { ChangedRuns } from "./changed-runs.ts";
import type { StepRows } from "./step-rows.ts";

export interface StartRunsParts {
  entries: QueueEntries;
  order: RunOrder;
  waits: Waits;
  changed: ChangedRuns;
  rows: InsertEvents;
  steps: StepRows;
  usage: UsageRows;
}

export class StartRuns {
  readonly #changed: ChangedRuns;
  readonly #rows: InsertEvents;
  readonly #entries: QueueEntries;
  readonly #order: RunOrder;
  readonly #waits: Waits;
  readonly #insert;
  readonly #steps: StepRows;
  readonly #insertBatched;
  readonly #storedEvent;
  readonly #usage: UsageRows;

  constructor(db: DatabaseSync, { entries, order, waits, changed, rows, steps, usage }: StartRunsParts) {
    this.#usage = usage;
    this.#steps = steps;
    this.#rows = rows;
    this.#changed = changed;
    this.#entries = entries;
    this.#order = order;
    this.#waits = waits;
    this.#insert = db.prepare(`
      INSERT INTO runs (
        environment_id, run_id, function_no, event_no, event_nos, status, lane, created_at, cron, original_run_id, job_id, invoker_run_no, invoker_step_id,
        order_key
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#storedEvent = db.prepare("SELECT 1 FROM events WHERE sequence = ?");
    this.#insertBatched = db.prepare("INSERT INTO batched_events (event_no, run_no) VALUES (?, ?)");
  }

  start(allocation: LeaseAllocation, environmentId: EnvironmentId, eventSequence: number, run: NewRun): RunNo {
    const { id, functionNo, lane, dueAt, rank, eventSequences, cron, originalRunId, jobId, invoker, order } = run;
    const status = dueAt <= allocation.now && allocation.hasRoom(lane) ? "running" : "queued";
    const { lastInsertRowid } = this.#insert.run(
      environmentId,
      id,
      functionNo,
      eventSequence,
      eventSequences ? JSON.stringify(eventSequences) : null,
      status,
      lane,
      allocation.now,
      cron ?? null,
      originalRunId ?? null,
      jobId ?? null,
      invoker?.runNo ?? null,
      invoker?.stepId ?? null,
      order?.text ?? null,
    );
    const runNo = lastInsertRowid as RunNo;
    addRun(this.#usage.noted, environmentId, functionNo, allocation.now);
    this.#order.join(environmentId, runNo, run);
    this.#changed.note(runNo);
    const first = { environmentId, lane, rank, runNo, functionNo, stepId: null, attempt: 0, subject: null, eventSequence: null };
    this.#entries.add(allocation, { ...first, dueAt, kind: "call" });
    if (run.startBy !== undefined) this.#entries.add(allocation, { ...first, dueAt: run.startBy, kind: "start-by" });
    for (const sequence of eventSequences ?? []) if (sequence !== eventSequence) this.#insertBatched.run(sequence, runNo);
    for (const [position, step] of (run.steps ?? []).entries()) {
      this.#steps.write(runNo, { ...step, position, donePosition: position });
    }
    for (const wait of run.cancels ?? []) this.#waits.add(environmentId, runNo, wait);
    return runNo;
  }

  /** It has not been removed. */
  isStored(eventSequence: number): boolean {
    return this.#storedEvent.get(eventSequence) !== undefined;
  }

  /** For an event that was stored earlier: from now on it counts as matched. */
  startForStored(allocation: LeaseAllocation, environmentId: EnvironmentId, eventSequence: number, run: NewRun): RunNo {
    for (const sequence of run.eventSequences ?? [eventSequence]) this.#rows.noteMatched(sequence);
    return this.start(allocation, environmentId, eventSequence, run);
  }
}
