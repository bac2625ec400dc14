/** Starting functions that have rules about it, in PostgreSQL: a start is written only if the marks are still what it was decided on. */

import type { EntryNo, EnvironmentId, FunctionNo } from "@inlet/protocol";
import {
  type ClaimedEntry,
  type FunctionStartChange,
  type FunctionStartParams,
  type FunctionStartStore,
  type RunRules,
  TIMER_LANE,
} from "../../contract/index.ts";
import { Handing } from "../../rows/entry-writes.ts";
import type { AdvanceRun, AppendInside } from "./advance-run.ts";
import { handedEntries } from "./append-events.ts";
import type { Database } from "../database.ts";
import type { GroupWriter, Plan } from "./group-writer.ts";
import { NotRead } from "./not-read.ts";
import type { RunReads } from "./run-reads.ts";
import { startRun } from "./start-runs.ts";
import type { UnitDraft } from "./unit-draft.ts";
import type { WrittenUnit } from "./write-units.ts";

const HELD_ENTRIES = `
  SELECT entry_no FROM queue JOIN unnest($2::bigint[], $3::text[]) AS asked(entry_no, node) USING (entry_no)
  WHERE environment_id = $1 AND leased_by = node`;
const STARTS_AT_ONCE = 500;

interface StartResult {
  applied: boolean;
  handed: ClaimedEntry[];
}

interface StartCall {
  params: FunctionStartParams;
  resolve(result: StartResult): void;
  reject(error: unknown): void;
}

export interface FunctionStartParts {
  database: Database;
  writer: GroupWriter;
  reads: RunReads;
  runs: AdvanceRun;
  rules: RunRules;
  append: AppendInside;
}

const HELD_MARK_MS = 86_400_000;

/** The mark of a singleton whose run goes on stays. Says how many were looked at. */
const EXPIRE_MARKS = `
  WITH old AS MATERIALIZED (
    SELECT environment_id, function_no, kind, key, value FROM marks WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
  ), held AS MATERIALIZED (
    SELECT old.* FROM old JOIN runs ON old.kind = 'singleton' AND runs.environment_id = old.environment_id
      AND runs.run_no = old.value::bigint AND runs.ended_at IS NULL
  ), kept AS (
    UPDATE marks SET expires_at = $1::bigint + ${HELD_MARK_MS} FROM held
    WHERE marks.environment_id = held.environment_id AND marks.function_no = held.function_no AND marks.kind = held.kind
      AND marks.key = held.key
  ), gone AS (
    DELETE FROM marks USING old WHERE marks.environment_id = old.environment_id AND marks.function_no = old.function_no
      AND marks.kind = old.kind AND marks.key = old.key
      AND NOT EXISTS (SELECT FROM held WHERE held.function_no = old.function_no AND held.kind = old.kind AND held.key = old.key)
  )
  SELECT count(*) AS looked FROM old`;

export function functionStartStore({ database, writer, reads, runs, rules, append }: FunctionStartParts): FunctionStartStore {
  /** Starts of one function look at the same marks: those that come together are decided one after the other, and written as one. */
  const waiting = new Map<FunctionNo, StartCall[]>();

  function start(params: FunctionStartParams): Promise<StartResult> {
    return new Promise((resolve, reject) => {
      const call = { params, resolve, reject };
      const others = waiting.get(params.functionNo);
      if (others) return void others.push(call);
      waiting.set(params.functionNo, []);
      void startMany(params.functionNo, [call]);
    });
  }

  async function startMany(functionNo: FunctionNo, calls: StartCall[]): Promise<void> {
    try {
      const settle = await writer.submit(planStarts(calls), { rows: calls.length * 4 });
      for (const tell of settle) tell();
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
    const next = waiting.get(functionNo)?.splice(0, STARTS_AT_ONCE) ?? [];
    if (next.length > 0) void startMany(functionNo, next);
    else waiting.delete(functionNo);
  }

  function planStarts(calls: readonly StartCall[]): Plan<(() => void)[]> {
    let held: { reads: unknown; entries: Set<EntryNo> } | null = null;
    return (draft) => {
      // What was read before is read again whenever the draft begins with nothing known.
      if (held?.reads !== draft.reads) {
        throw new NotRead(async () => {
          held = { reads: draft.reads, entries: await heldEntries(calls) };
        });
      }
      const outcomes = calls.map((call) => decideOne(draft, call, held?.entries.has(call.params.entryNo) === true));
      return (written) => outcomes.map((outcome) => () => outcome(written));
    };
  }

  /** All of them start one function, so they are in one environment. */
  async function heldEntries(calls: readonly StartCall[]): Promise<Set<EntryNo>> {
    const [entryNos, nodes] = [calls.map(({ params }) => params.entryNo), calls.map(({ params }) => params.lease.node)];
    const rows = await database.query<{ entry_no: EntryNo }>(HELD_ENTRIES, [calls[0]?.params.environmentId, entryNos, nodes]);
    return new Set(rows.map(({ entry_no }) => entry_no));
  }

  function decideOne(draft: UnitDraft, { params, resolve, reject }: StartCall, isHeld: boolean): (written: WrittenUnit) => void {
    if (!isHeld) return () => resolve({ applied: false, handed: [] });
    const { environmentId, entryNo, functionNo, now, lease } = params;
    const handing = new Handing(now, lease);
    let change: FunctionStartChange;
    try {
      change = params.decide({
        marks: params.marks.map((mark) => draft.readMark(environmentId, functionNo, mark)),
        isActive: (runNo) => draft.isActive({ environmentId, runNo }),
        events: (sequences) => draft.reads.events(environmentId, sequences),
      });
    } catch (error) {
      if (error instanceof NotRead) throw error;
      return () => reject(error);
    }
    draft.rows.held.push({ environment_id: environmentId, entry_no: entryNo, node: lease.node });
    if (change.againAt === undefined) draft.rows.entriesGone.push({ environment_id: environmentId, entry_no: entryNo });
    else draft.comeAgain({ environmentId, no: entryNo }, change.againAt);
    apply(draft, handing, environmentId, functionNo, change);
    return (written) => resolve({ applied: true, handed: handedEntries(draft, handing, written) });
  }

  function apply(
    draft: UnitDraft,
    handing: Handing,
    environmentId: EnvironmentId,
    functionNo: FunctionNo,
    change: FunctionStartChange,
  ): void {
    for (const mark of change.marks ?? []) draft.writeMark(environmentId, functionNo, mark);
    for (const runNo of change.cancels ?? []) {
      runs.advance(draft, handing, { environmentId, runNo }, null, (state) => rules.cancel(state, handing.now));
    }
    for (const batch of change.events ?? []) append(draft, handing, batch);
    if (change.refused) {
      const { invoker, value } = change.refused;
      const step = { id: invoker.stepId, status: "failed", value } as const;
      runs.advance(draft, handing, { environmentId, runNo: invoker.runNo }, null, (state) => rules.resolve(state, step, handing.now));
    }
    if (change.gather) {
      const { key, dueAt, since } = change.gather;
      const entry = { environmentId, functionNo, dueAt, rank: dueAt, kind: "gather", lane: TIMER_LANE, subject: key } as const;
      draft.addEntry(handing, { ...entry, runNo: null, stepId: null, attempt: 0, eventSequence: since }, null);
    }
    if (!change.run) return;
    const runNo = startRun(draft, handing, environmentId, { sequence: change.run.event.sequence }, change.run.run);
    // Whether the run it names is active is what counts about a singleton's mark; it is looked at again later.
    if (change.holdMark) {
      const expiresAt = handing.now + HELD_MARK_MS;
      draft.writeMark(environmentId, functionNo, { ...change.holdMark, value: String(runNo), expiresAt });
    }
  }

  return {
    eventAt: ({ environmentId, sequence }) => reads.event(environmentId, sequence),
    markGet: ({ environmentId, functionNo, ...mark }) => reads.mark(environmentId, functionNo, mark),
    functionStart: start,
    async markExpireMany({ until, limit }) {
      const [row] = await database.query<{ looked: number }>(EXPIRE_MARKS, [until, limit]);
      return row?.looked ?? 0;
    },
  };
}
