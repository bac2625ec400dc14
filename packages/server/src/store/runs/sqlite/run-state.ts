/** Reads the input of a decision about a run, and of a call to its function. Inside or outside a transaction. */

import type { DatabaseSync } from "node:sqlite";
import type { EntryNo, EnvironmentId, LeaseId, RunId, RunNo, StepId } from "@inlet/protocol";
import {
  type EntryRecord,
  LOOK_BACK_EVENTS_MAX,
  type RunContext,
  type RunEnd,
  type RunError,
  type RunRecord,
  type RunState,
  type StepRequest,
  type StoredEvent,
} from "../../contract/index.ts";
import { bytesOfEvent, type EventRow, toStoredEvent } from "../../events/rows/event-rows.ts";
import { selectEvents } from "../../events/sqlite/select-events.ts";
import { type RequestRow, toStepRequest } from "../../secrets/rows/sealed-requests.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import { PAGE_BYTES_MAX, sliceWithin } from "../../shared/byte-bounds.ts";
import { type NewestEvents, type SeenEvent, seenEvent } from "../../waits/policy.ts";
import type { LookedBack } from "../../waits/rows.ts";
import { RUN_COLUMNS, type RunRow, toRunRecord } from "../rows/run-rows.ts";
import { STEP_COLUMNS, type StepRow, toStepRecord } from "../rows/step-rows.ts";

export class RunStates {
  readonly #run;
  readonly #runById;
  readonly #steps;
  readonly #values;
  readonly #entries;
  readonly #event;
  readonly #newestEvents;
  readonly #eventsAfter;
  readonly #end;
  readonly #request;
  readonly #box: SecretBox;

  constructor(db: DatabaseSync, box: SecretBox) {
    this.#box = box;
    const select = `SELECT ${RUN_COLUMNS} FROM runs`;
    this.#run = db.prepare(`${select} WHERE run_no = ?`);
    this.#runById = db.prepare(`${select} WHERE environment_id = ? AND run_id = ?`);
    this.#steps = db.prepare(`
      SELECT ${STEP_COLUMNS.join(", ")} FROM steps WHERE run_no = ? ORDER BY position`);
    this.#values = db.prepare("SELECT step_id, value FROM steps WHERE run_no = ? AND done_position IS NOT NULL ORDER BY done_position");
    this.#entries = db.prepare(
      "SELECT entry_no, kind, step_id, attempt, claims, lease_id, home_rank, again, event_no FROM queue WHERE run_no = ?",
    );
    const ofName = `
      ${selectEvents("events_by_name")} WHERE environment_id = ? AND name_id = (SELECT name_id FROM event_names WHERE name = ?)`;
    this.#newestEvents = db.prepare(`${ofName} AND received_at >= ? ORDER BY received_at DESC, sequence DESC LIMIT ?`);
    this.#eventsAfter = db.prepare(`${ofName} AND (received_at, sequence) > (?, ?) ORDER BY received_at, sequence LIMIT ?`);
    this.#end = db.prepare("SELECT status, ended_at, output, error FROM runs WHERE run_no = ? AND ended_at IS NOT NULL");
    this.#request = db.prepare(`
      SELECT kind, detail FROM steps WHERE run_no = ? AND step_id = ? AND done_position IS NULL AND kind IN ('fetch', 'infer')`);
    this.#event = db.prepare(`${selectEvents()} WHERE sequence = ?`);
  }

  run(runNo: RunNo): (RunRecord & { eventNos: string | null }) | null {
    const row = this.#run.get(runNo) as RunRow | undefined;
    return row ? { ...toRunRecord(row), eventNos: row.event_nos } : null;
  }

  runById(environmentId: number, id: RunId): RunRecord | null {
    const row = this.#runById.get(environmentId, id) as RunRow | undefined;
    return row ? toRunRecord(row) : null;
  }

  /** Null if the run has ended. */
  state(runNo: RunNo): RunState | null {
    const run = this.run(runNo);
    if (!run || run.endedAt !== null) return null;
    const steps = (this.#steps.all(runNo) as unknown as StepRow[]).map(toStepRecord);
    return { run, steps, entries: this.#entriesOf(runNo), events: () => this.events(sequencesOf(run)) };
  }

  context(runNo: RunNo): RunContext | null {
    const run = this.run(runNo);
    if (!run || run.endedAt !== null) return null;
    const steps = this.#values.all(runNo) as { step_id: StepId; value: string }[];
    const events = this.events(sequencesOf(run));
    return { run, events, steps: steps.map(({ step_id, value }) => ({ id: step_id, value })) };
  }

  events(sequences: readonly number[]): StoredEvent[] {
    return sequences.flatMap((sequence) => {
      const row = this.#event.get(sequence) as EventRow | undefined;
      return row ? [toStoredEvent(row)] : [];
    });
  }

  /** The request of an open step. */
  request(runNo: RunNo, stepId: StepId): StepRequest | null {
    const row = this.#request.get(runNo, stepId) as RequestRow | undefined;
    return row ? toStepRequest(this.#box, { runNo, stepId }, row) : null;
  }

  /** Null if it has not ended, or no longer exists. */
  end(runNo: RunNo): RunEnd | null {
    const row = this.#end.get(runNo) as
      | { status: RunEnd["status"]; ended_at: number; output: string | null; error: string | null }
      | undefined;
    if (!row) return null;
    const error = row.error === null ? null : (JSON.parse(row.error) as RunError);
    return { status: row.status, endedAt: row.ended_at, output: row.output, error };
  }

  /** The newest events of this name received since then: bounded in number and size. */
  newestEvents(environmentId: EnvironmentId, name: string, since: number): NewestEvents {
    const found = this.#newestEvents.iterate(environmentId, name, since, LOOK_BACK_EVENTS_MAX);
    const { events, isEnd } = seenWithin(found);
    return { events: events.reverse(), isWhole: isEnd };
  }

  /** The next events of this name, bounded likewise. */
  eventsAfter(environmentId: EnvironmentId, name: string, after: LookedBack): { events: SeenEvent[]; isEnd: boolean } {
    return seenWithin(this.#eventsAfter.iterate(environmentId, name, after.at, after.no, LOOK_BACK_EVENTS_MAX));
  }

  #entriesOf(runNo: RunNo): EntryRecord[] {
    const rows = this.#entries.all(runNo) as Record<string, never>[];
    return rows.map((row) => ({
      no: row.entry_no as unknown as EntryNo,
      kind: row.kind as unknown as string,
      stepId: ((row.step_id as unknown as string) || null) as StepId | null,
      attempt: row.attempt as unknown as number,
      claims: row.claims as unknown as number,
      leaseId: row.lease_id as unknown as LeaseId | null,
      rank: row.home_rank as unknown as number,
      rediscovers: (row.again as unknown as number) === 1,
      eventSequence: row.event_no as unknown as number | null,
    }));
  }
}

function seenWithin(found: Iterable<unknown>): { events: SeenEvent[]; isEnd: boolean } {
  const { rows, isEnd } = sliceWithin(found as Iterable<EventRow>, LOOK_BACK_EVENTS_MAX, PAGE_BYTES_MAX, bytesOfEvent);
  return { events: rows.map((row) => seenEvent(toStoredEvent(row))), isEnd };
}

function sequencesOf({ eventNos, eventSequence }: { eventNos: string | null; eventSequence: number }): number[] {
  return eventNos === null ? [eventSequence] : (JSON.parse(eventNos) as number[]);
}
