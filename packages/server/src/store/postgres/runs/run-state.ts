/** Reads runs, their events and what waits, for many callers at once. */

import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import {
  type EntryRecord,
  type EventPlace,
  fromStoreText,
  type MarkKey,
  type RunContext,
  type RunKey,
  type RunRecord,
  type StepRecord,
  type StoredEvent,
  type StoredWait,
  toStoreText,
} from "../../contract/index.ts";
import { EVENT_COLUMNS, type EventRow, toStoredEvent } from "../../rows/event-rows.ts";
import { type RunRow, type StepRow, toRunRecord, toStepRecord } from "../../rows/run-rows.ts";
import { BatchLoader, EnvironmentLoaders } from "./batch-loader.ts";
import { boundedKey } from "../bounded-key.ts";
import type { Database } from "../database.ts";
import type { KnownRun, KnownRuns } from "./known-runs.ts";
import { settledSequence } from "../events/settled-sequence.ts";

export const SELECT_EVENTS = `SELECT ${EVENT_COLUMNS} FROM events JOIN event_names USING (name_id) JOIN event_sources USING (source_no)`;
/** Bounds what a wait looks back over. */
export const RECENT_EVENTS_MAX = 10_000;
/** An event is stored this long after it was received, at most. */
export const STORED_WITHIN_MS = 60_000;
const LATELY_MS = 10;

export interface HeldEntry extends EntryRecord {
  leasedBy: string | null;
  goesAgain: boolean;
}

/** A run as it was read: what is decided on it holds only for this revision. */
export interface ReadRun {
  run: RunRecord;
  revision: number;
  eventNos: string | null;
  steps: StepRecord[];
  entries: HeldEntry[];
  hasWaits: boolean;
}

export interface FoundWait extends Omit<StoredWait, "match"> {
  no: number;
  path: string;
  key: string;
}

interface WaitRow {
  wait_no: number;
  kind: "event" | "cancel";
  run_no: RunNo;
  step_id: string | null;
  expression: string | null;
  expires_at: number;
  match_path: string;
  match_key: string;
}

/** With the event that started it, if that is still there. */
interface WholeRow extends RunRow, Omit<EventRow, "environment_id" | "sequence" | "event_id"> {
  revision: number;
  steps: StepRow[] | null;
  entries:
    | { entry_no: number; kind: string; step_id: string; attempt: number; claims: number; leased_by: string | null; again: number }[]
    | null;
  has_waits: boolean;
  step_values: { id: string; value: string }[] | null;
  event_id: string | null;
}

/** Functions of the database keep their plans: see migrations/009-runs-by-number.sql. $1 is the environment. */
const WHOLE_RUNS = "SELECT * FROM whole_runs($1, $2)";
const EVENTS_AT = "SELECT * FROM events_at($1, $2)";

export class RunReads {
  readonly #database: Database;
  readonly #known: KnownRuns;
  readonly #wholes: EnvironmentLoaders<RunNo, KnownRun>;
  readonly #events: EnvironmentLoaders<number, StoredEvent>;
  readonly #settled: BatchLoader<"events", number>;
  /** How far events could be read lately. */
  #lately = { sequence: 0, readAt: Number.NEGATIVE_INFINITY };

  constructor(database: Database, known: KnownRuns) {
    this.#database = database;
    this.#known = known;
    this.#wholes = new EnvironmentLoaders(async (environmentId, numbers) => {
      const rows = await database.query<WholeRow>(WHOLE_RUNS, [environmentId, numbers]);
      return new Map(rows.map((row) => [row.run_no as RunNo, { read: toReadRun(row), steps: toValues(row), events: toStarter(row) }]));
    });
    this.#settled = new BatchLoader(async () => new Map([["events", await settledSequence(database)] as const]));
    this.#events = new EnvironmentLoaders(async (environmentId, sequences) => {
      const rows = await database.query<EventRow>(EVENTS_AT, [environmentId, sequences]);
      return new Map(rows.map((row) => [row.sequence, toStoredEvent(row)]));
    });
  }

  /** Null when it has ended. */
  async run({ environmentId, runNo }: RunKey): Promise<ReadRun | null> {
    return (await this.#wholes.load(environmentId, runNo))?.read ?? null;
  }

  event(environmentId: EnvironmentId, sequence: number): Promise<StoredEvent | null> {
    return this.#events.load(environmentId, sequence);
  }

  async context(key: RunKey): Promise<RunContext | null> {
    const known = this.#known.find(key.runNo);
    const [settled, found] = await Promise.all([this.#settledLately(), known ?? this.#whole(key)]);
    if (!found) return null;
    const { read, steps, events } = found;
    // An event from before the run counts for none of its waits.
    return { run: read.run, steps, events, lastSequence: Math.max(settled, read.run.eventSequence) };
  }

  /** As they are now, so that contexts need not wait for them one by one. */
  async readAhead(keys: readonly RunKey[]): Promise<void> {
    this.#known.forget(keys.map(({ runNo }) => runNo));
    await Promise.all(keys.map((key) => this.#whole(key)));
  }

  async #whole({ environmentId, runNo }: RunKey): Promise<KnownRun | null> {
    const whole = await this.#wholes.load(environmentId, runNo);
    if (!whole) return null;
    const known = whole.read.eventNos === null ? whole : { ...whole, events: await this.#batchOf(environmentId, whole.read) };
    this.#known.keep(known);
    return known;
  }

  async #batchOf(environmentId: EnvironmentId, read: ReadRun): Promise<StoredEvent[]> {
    const events = await Promise.all(sequencesOf(read).map((sequence) => this.event(environmentId, sequence)));
    return events.filter((event) => event !== null);
  }

  async waits(environmentId: EnvironmentId, name: string): Promise<FoundWait[]> {
    const rows = await this.#database.query<WaitRow>(
      `SELECT wait_no, kind, run_no, step_id, expression, expires_at, match_path, match_key FROM waits
       WHERE environment_id = $1 AND event_name = $2 ORDER BY wait_no`,
      [environmentId, toStoreText(name)],
    );
    return rows.map((row) => ({
      ...{ no: row.wait_no, kind: row.kind, eventName: name, expression: row.expression, expiresAt: row.expires_at, runNo: row.run_no },
      ...{ stepId: row.step_id === null ? null : (fromStoreText(row.step_id) as StepId), path: row.match_path, key: row.match_key },
    }));
  }

  /** How far events can be read without passing one that is still to come. */
  async settled(): Promise<number> {
    const sequence = (await this.#settled.load("events")) ?? 0;
    this.#lately = { sequence, readAt: performance.now() };
    return sequence;
  }

  /** Not asked for each of many calls: an event that came this short a time before a call may count as one that came after it began. */
  async #settledLately(): Promise<number> {
    const { sequence, readAt } = this.#lately;
    return performance.now() - readAt <= LATELY_MS ? sequence : this.settled();
  }

  /** Events of this name that were stored since, oldest first. */
  async eventsSince({ environmentId }: RunRecord, nameId: number, { sequence, at }: EventPlace): Promise<StoredEvent[]> {
    const rows = await this.#database.query<EventRow>(
      `${SELECT_EVENTS} WHERE environment_id = $1 AND name_id = $2 AND received_at >= $3 AND sequence > $4
       ORDER BY received_at, sequence LIMIT ${RECENT_EVENTS_MAX}`,
      [environmentId, nameId, at - STORED_WITHIN_MS, sequence],
    );
    return rows.map(toStoredEvent);
  }

  async isRepeated(environmentId: EnvironmentId, id: string, dedupKey: string | null, since: number, mayExist: boolean): Promise<boolean> {
    const rows = await this.#database.query(
      `SELECT 1 FROM dedup_keys WHERE environment_id = $1 AND dedup_key = $3 AND first_seen_at > $4
       UNION ALL SELECT 1 FROM events WHERE environment_id = $1 AND event_id = $2 AND $5`,
      [environmentId, id, dedupKey, since, mayExist],
    );
    return rows.length > 0;
  }

  async mark(environmentId: EnvironmentId, functionNo: FunctionNo, { kind, key }: MarkKey): Promise<string | null> {
    const rows = await this.#database.query<{ value: string }>(
      "SELECT value FROM marks WHERE environment_id = $1 AND function_no = $2 AND kind = $3 AND key = $4",
      [environmentId, functionNo, kind, boundedKey(key)],
    );
    return rows[0]?.value ?? null;
  }
}

export function sequencesOf({ run, eventNos }: Pick<ReadRun, "run" | "eventNos">): number[] {
  return eventNos === null ? [run.eventSequence] : (JSON.parse(eventNos) as number[]);
}

function toValues({ step_values }: WholeRow): RunContext["steps"] {
  return (step_values ?? []).map(({ id, value }) => ({ id: fromStoreText(id) as StepId, value }));
}

function toStarter(row: WholeRow): StoredEvent[] {
  const { event_no, event_id } = row;
  return event_id === null ? [] : [toStoredEvent({ ...row, sequence: event_no, event_id })];
}

function toReadRun(row: WholeRow): ReadRun {
  return {
    run: toRunRecord(plain(row)),
    revision: row.revision,
    eventNos: row.event_nos,
    hasWaits: row.has_waits,
    steps: (row.steps ?? []).map((step) => toStepRecord(plainStep(step))),
    entries: (row.entries ?? []).map((entry) => ({
      ...{ no: entry.entry_no as EntryNo, kind: entry.kind, stepId: (fromStoreText(entry.step_id) || null) as StepId | null },
      ...{
        attempt: entry.attempt,
        claims: entry.claims,
        isHeld: entry.leased_by !== null,
        leasedBy: entry.leased_by,
        goesAgain: entry.again === 1,
      },
    })),
  };
}

/** Texts that people choose may hold what PostgreSQL cannot: see store-text.ts. */
export function plain<Row extends RunRow>(row: Row): Row {
  const { lane, cron, invoker_step_id } = row;
  return {
    ...row,
    lane: fromStoreText(lane),
    cron: cron && fromStoreText(cron),
    invoker_step_id: invoker_step_id && fromStoreText(invoker_step_id),
  };
}

export function plainStep<Row extends StepRow>(row: Row): Row {
  const { step_id, name, detail } = row;
  return { ...row, step_id: fromStoreText(step_id), name: fromStoreText(name), detail: detail && fromStoreText(detail) };
}
