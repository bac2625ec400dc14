/** Runs that the events of a group start, column by column, as write_starting_events takes them: see migrations/011. */

import type { EntryNo, RunNo } from "@inlet/protocol";
import type { ClaimedEntry, EntryKey, EventBatch, NewEvent, NewRun } from "../contract/index.ts";
import { claimed, type Handing } from "../rows/entry-writes.ts";
import { asStored } from "./append-events.ts";
import { bigintArray, integerArray, textArray } from "./binary-arrays.ts";
import type { KnownRun } from "./known-runs.ts";
import type { NumberBlocks, Numbered } from "./number-blocks.ts";
import { startedRun } from "./start-runs.ts";
import type { Words } from "./words.ts";

interface Started {
  batch: EventBatch;
  event: NewEvent;
  /** The event's in the group, counted from 1. */
  number: number;
  run: NewRun;
  runNo: RunNo;
  entryNo: EntryNo;
  laneNo: number;
  takenBy: { node: string; until: number } | null;
}

export interface RunColumnsParts {
  words: Words;
  blocks: Record<Numbered, NumberBlocks>;
}

/** A run that is written with its event and one entry, and that is due: all that these columns can hold. */
export function isPlainStart({ dueAt, cancels, startBy, eventSequences, cron, originalRunId, invoker }: NewRun, now: number): boolean {
  const hasMore = startBy ?? eventSequences ?? cron ?? originalRunId ?? invoker;
  return dueAt <= now && hasMore === undefined && (cancels === undefined || cancels.length === 0);
}

export class RunColumns {
  readonly #parts: RunColumnsParts;
  readonly #started: Started[] = [];

  constructor(parts: RunColumnsParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#started.length === 0;
  }

  /** Throws NotRead when a number is not at hand. */
  add(batch: EventBatch, event: NewEvent, number: number, run: NewRun, handing: Handing): void {
    const { words, blocks } = this.#parts;
    const numbers = { runNo: blocks.runs.next() as RunNo, entryNo: blocks.entries.next() as EntryNo };
    const laneNo = words.laneNo(run.lane, batch.environmentId);
    this.#started.push({ batch, event, number, run, ...numbers, laneNo, takenBy: handing.take(run.lane) });
  }

  parameters(): unknown[] {
    const all = this.#started;
    return [
      [...new Set(all.map(({ laneNo }) => laneNo))],
      integerArray(all.map(({ number }) => number)),
      bigintArray(all.map(({ runNo }) => runNo)),
      textArray(all.map(({ run }) => run.id)),
      integerArray(all.map(({ run }) => run.functionNo)),
      integerArray(all.map(({ laneNo }) => laneNo)),
      bigintArray(all.map(({ entryNo }) => entryNo)),
      bigintArray(all.map(({ takenBy, run }) => takenBy?.until ?? run.rank)),
      bigintArray(all.map(({ takenBy, run }) => takenBy?.until ?? run.dueAt)),
      textArray(all.map(({ takenBy }) => takenBy?.node ?? null)),
    ];
  }

  /** Entries that a node holds, if they were written. */
  takenEntries(): EntryKey[] {
    return this.#started.flatMap(({ takenBy, batch, entryNo }) => (takenBy ? [{ environmentId: batch.environmentId, no: entryNo }] : []));
  }

  /** What was written: all but what belongs to events that were repeated. One sequence is that of the first event, if the others follow. */
  written(repeated: ReadonlyMap<number, unknown>, sequences: readonly number[]): WrittenRuns {
    const written: WrittenRuns = { runNos: [], unheld: [], handed: new Map(), known: [] };
    const [first = 0] = sequences;
    const sequenceOf = (number: number) => (sequences.length === 1 ? first + number - 1 : (sequences[number - 1] as number));
    for (const started of this.#started) {
      const { number, batch, run, runNo, takenBy } = started;
      if (repeated.has(number)) continue;
      written.runNos.push(runNo);
      if (!takenBy) {
        written.unheld.push({ lane: run.lane, dueAt: run.dueAt });
        continue;
      }
      const handed = written.handed.get(batch) ?? [];
      handed.push(entryOf(started));
      written.handed.set(batch, handed);
      written.known.push(knownOf(started, takenBy.node, sequenceOf(number)));
    }
    return written;
  }
}

export interface WrittenRuns {
  runNos: RunNo[];
  unheld: { lane: string; dueAt: number }[];
  handed: Map<EventBatch, ClaimedEntry[]>;
  known: KnownRun[];
}

function entryOf({ batch: { environmentId }, run, runNo, entryNo }: Started): ClaimedEntry {
  const { functionNo, lane, dueAt, rank } = run;
  const call = { kind: "call", stepId: null, attempt: 0, subject: null, eventSequence: null } as const;
  return claimed({ ...call, environmentId, functionNo, lane, dueAt, rank, runNo }, entryNo, 1);
}

function knownOf({ batch, event, run, runNo, entryNo }: Started, node: string, sequence: number): KnownRun {
  const held = { no: entryNo, kind: "call", stepId: null, attempt: 0, claims: 1, isHeld: true, leasedBy: node, goesAgain: false };
  const begun = { no: runNo, status: "running" as const, createdAt: batch.receivedAt, entries: [held] };
  const read = startedRun(batch.environmentId, { sequence }, run, begun);
  return { read, events: [asStored(batch, event, sequence)], steps: [] };
}
