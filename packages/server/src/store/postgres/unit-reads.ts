/** What one unit has read so far. Asking for more throws NotRead; after it was read, the unit is planned again. */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { EventPlace, MarkKey, RunKey, RunRecord, StoredEvent } from "../contract/index.ts";
import type { KnownRun } from "./known-runs.ts";
import { NotRead } from "./not-read.ts";
import type { NumberBlocks, Numbered } from "./number-blocks.ts";
import type { FoundWait, ReadRun, RunReads } from "./run-reads.ts";

export class UnitReads {
  /** A run that need not be read. */
  readonly given: KnownRun | null;
  readonly #reads: RunReads;
  readonly #blocks: Record<Numbered, NumberBlocks>;
  readonly #known = new Map<string, unknown>();
  readonly #numbers: Record<Numbered, number[]> = { runs: [], entries: [] };
  #used: Record<Numbered, number> = { runs: 0, entries: 0 };

  constructor(reads: RunReads, blocks: Record<Numbered, NumberBlocks>, given: KnownRun | null) {
    this.#reads = reads;
    this.#blocks = blocks;
    this.given = given;
    if (!given) return;
    this.#known.set(`run ${given.read.run.no}`, given.read);
    for (const event of given.events) this.#known.set(`event ${event.sequence}`, event);
  }

  /** A plan that begins again gets the same numbers again. */
  rewind(): void {
    this.#used = { runs: 0, entries: 0 };
  }

  nextNumber(of: Numbered): number {
    const numbers = this.#numbers[of];
    if (this.#used[of] === numbers.length) numbers.push(this.#blocks[of].next());
    return numbers[this.#used[of]++] as number;
  }

  run(key: RunKey): ReadRun | null {
    return this.#get(`run ${key.runNo}`, () => this.#reads.run(key));
  }

  event(environmentId: EnvironmentId, sequence: number): StoredEvent | null {
    return this.#get(`event ${sequence}`, () => this.#reads.event(environmentId, sequence));
  }

  events(environmentId: EnvironmentId, sequences: readonly number[]): StoredEvent[] {
    const missing = sequences.filter((sequence) => !this.#known.has(`event ${sequence}`));
    if (missing.length > 0)
      throw new NotRead(
        async () =>
          void (await Promise.all(missing.map((one) => this.#fetch(`event ${one}`, () => this.#reads.event(environmentId, one))))),
      );
    return sequences.flatMap((sequence) => this.event(environmentId, sequence) ?? []);
  }

  waits(environmentId: EnvironmentId, name: string): FoundWait[] {
    return this.#get(`waits ${environmentId} ${name}`, () => this.#reads.waits(environmentId, name));
  }

  eventsSince(run: RunRecord, nameId: number, since: EventPlace): StoredEvent[] {
    return this.#get(`since ${run.no} ${nameId} ${since.sequence} ${since.at}`, () => this.#reads.eventsSince(run, nameId, since));
  }

  isRepeated(environmentId: EnvironmentId, id: string, dedupKey: string | null, since: number, mayExist: boolean): boolean {
    return this.#get(`event ${environmentId} ${id}`, () => this.#reads.isRepeated(environmentId, id, dedupKey, since, mayExist));
  }

  mark(environmentId: EnvironmentId, functionNo: FunctionNo, mark: MarkKey): string | null {
    return this.#get(`mark ${functionNo} ${mark.kind} ${mark.key}`, () => this.#reads.mark(environmentId, functionNo, mark));
  }

  #get<Value>(key: string, read: () => Promise<Value>): Value {
    if (!this.#known.has(key)) throw new NotRead(() => this.#fetch(key, read));
    return this.#known.get(key) as Value;
  }

  async #fetch(key: string, read: () => Promise<unknown>): Promise<void> {
    this.#known.set(key, await read());
  }
}
