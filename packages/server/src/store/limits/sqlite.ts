/** Slots of concurrency limits: taken and freed inside transactions; listeners are notified after the commit. */

import type { DatabaseSync } from "node:sqlite";
import type { EntryNo, RunNo } from "@inlet/protocol";
import type { LimitRule } from "../contract/index.ts";
import { callListeners } from "../shared/call-listeners.ts";
import { freeByLimit, OF_RUN } from "./policy.ts";

type Listener = (ids: readonly string[]) => void;

export class Limits {
  readonly #count;
  readonly #take;
  readonly #freeEntry;
  readonly #freeRun;
  readonly #listeners = new Set<Listener>();
  readonly #freed = new Set<string>();

  constructor(db: DatabaseSync) {
    // A leased entry is due again when its lease expires. From then on it holds no slot.
    this.#count = db.prepare(`
      SELECT count(*) AS used FROM limit_slots AS slot WHERE limit_id = ?1
        AND (entry_no = ${OF_RUN} OR EXISTS (SELECT 1 FROM queue WHERE queue.entry_no = slot.entry_no AND due_at > ?2))`);
    this.#take = db.prepare("INSERT INTO limit_slots (limit_id, run_no, entry_no) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
    this.#freeEntry = db.prepare("DELETE FROM limit_slots WHERE run_no = ? AND entry_no = ? RETURNING limit_id");
    this.#freeRun = db.prepare(`DELETE FROM limit_slots WHERE run_no = ? AND entry_no = ${OF_RUN} RETURNING limit_id`);
  }

  /** The number of free slots of each limit, by its id. */
  free(rules: readonly LimitRule[], now: number): Map<string, number> {
    return freeByLimit(rules, (id) => this.#count.get(id, now)?.used as number);
  }

  takeForEntry(limits: readonly LimitRule[], runNo: RunNo, entryNo: EntryNo): void {
    for (const { id } of limits) this.#take.run(id, runNo, entryNo);
  }

  takeForRun(limit: LimitRule, runNo: RunNo): void {
    this.#take.run(limit.id, runNo, OF_RUN);
  }

  freeEntry(runNo: RunNo, entryNo: EntryNo): void {
    this.noteFreed(idsOf(this.#freeEntry.all(runNo, entryNo)));
  }

  /** Frees the slots that the run itself holds. */
  freeRun(runNo: RunNo): void {
    this.noteFreed(idsOf(this.#freeRun.all(runNo)));
  }

  /** Listeners of these limits are notified. */
  noteFreed(ids: readonly string[]): void {
    for (const id of ids) this.#freed.add(id);
  }

  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(): void {
    if (this.#freed.size === 0) return;
    const ids = [...this.#freed];
    this.#freed.clear();
    callListeners(...[...this.#listeners].map((listener) => () => listener(ids)));
  }

  /** Discards notifications of a transaction that was rolled back. */
  forget(): void {
    this.#freed.clear();
  }
}

function idsOf(rows: readonly unknown[]): string[] {
  return (rows as readonly { limit_id: string }[]).map(({ limit_id }) => limit_id);
}
