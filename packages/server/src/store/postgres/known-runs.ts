/**
 * Runs that this node works on, as it wrote or read them last: so that a run need not be read again for its call, nor for what follows
 * from the answer.
 *
 * What is decided on a run that changed meanwhile is found out as it is written (see group-writer.ts), so nothing here has to be right.
 * It is forgotten when another node says that it changed the run, though, and soon where nobody could say so: an app should not be called
 * for a run that was cancelled a while ago.
 */

import type { EntryNo, RunNo } from "@inlet/protocol";
import type { RunContext, StoredEvent } from "../contract/index.ts";
import type { ReadRun } from "./run-reads.ts";

export interface KnownRun {
  read: ReadRun;
  events: readonly StoredEvent[];
  /** Steps that are done, in the order they were. */
  steps: RunContext["steps"];
}

/** How long it is believed: while this node hears what others do, and while it does not. */
const HEARING_MS = 10_000;
const DEAF_MS = 1_000;
/** Of payloads and results together, in UTF-16 units. */
const UNITS_MAX = 16_000_000;
const UNITS_OF_ONE_MAX = 256_000;
const RUNS_MAX = 10_000;

interface Kept {
  /** Null once it is forgotten: tables of a Map that V8 holds for alive would keep all that was ever in them. */
  known: KnownRun | null;
  units: number;
  keptAt: number;
}

export class KnownRuns {
  /** In the order in which they were kept. */
  readonly #runs = new Map<RunNo, Kept>();
  readonly #isHearing: () => boolean;
  #units = 0;

  constructor(isHearing: () => boolean) {
    this.#isHearing = isHearing;
  }

  /** Only while its app is about to be called: whatever else concerns a run, it is read for. */
  keep(known: KnownRun): void {
    const { run, entries } = known.read;
    this.forget([run.no]);
    const units = unitsOf(known);
    if (units > UNITS_OF_ONE_MAX || !entries.some(({ kind, isHeld }) => kind === "call" && isHeld)) return;
    this.#runs.set(run.no, { known, units, keptAt: performance.now() });
    this.#units += units;
    while (this.#units > UNITS_MAX || this.#runs.size > RUNS_MAX) this.forget([this.#runs.keys().next().value as RunNo]);
  }

  /** For the node that works on this entry of the run. */
  findFor(runNo: RunNo, entryNo: EntryNo, node: string): KnownRun | null {
    const known = this.find(runNo);
    return known?.read.entries.some(({ no, leasedBy }) => no === entryNo && leasedBy === node) ? known : null;
  }

  find(runNo: RunNo): KnownRun | null {
    const kept = this.#runs.get(runNo);
    if (!kept) return null;
    if (performance.now() - kept.keptAt <= (this.#isHearing() ? HEARING_MS : DEAF_MS)) return kept.known;
    this.forget([runNo]);
    return null;
  }

  forgetAll(): void {
    this.forget([...this.#runs.keys()]);
  }

  forget(runNos: Iterable<RunNo>): void {
    for (const runNo of runNos) {
      const kept = this.#runs.get(runNo);
      if (!kept) continue;
      this.#runs.delete(runNo);
      this.#units -= kept.units;
      kept.known = null;
    }
  }
}

function unitsOf({ events, steps }: KnownRun): number {
  let units = 0;
  for (const { data } of events) units += data.length;
  for (const { value } of steps) units += value.length;
  return units;
}
