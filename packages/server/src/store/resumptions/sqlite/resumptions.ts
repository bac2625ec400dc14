/** The rows of what is left of matching events with waits. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, RunNo, StepId } from "@inlet/protocol";
import type { ResumptionKey } from "../../contract/index.ts";

export interface Resumption {
  eventSequence: number;
  /** Waits up to this one have been examined. */
  after: number;
}

export class Resumptions {
  readonly #pending;
  readonly #pendingWait;
  readonly #add;
  readonly #next;
  readonly #note;
  readonly #remove;
  readonly #list;
  readonly #listeners = new Set<() => void>();

  constructor(db: DatabaseSync) {
    const key = "environment_id = ? AND event_name = ?";
    this.#pending = db.prepare(`SELECT 1 FROM resumptions WHERE ${key} LIMIT 1`);
    this.#pendingWait = db.prepare(`
      SELECT 1 FROM waits AS w WHERE w.run_no = ? AND w.step_id = ? AND w.kind = 'event' AND (
        w.look_at < w.expires_at
        OR EXISTS (
          SELECT 1 FROM resumptions AS r JOIN events AS e ON e.sequence = r.event_no
          WHERE r.environment_id = w.environment_id AND r.event_name = w.event_name
            AND r.after_wait_no < w.wait_no AND e.received_at < w.expires_at))`);
    this.#add = db.prepare("INSERT INTO resumptions (environment_id, event_name, event_no, after_wait_no) VALUES (?, ?, ?, 0)");
    this.#next = db.prepare(`SELECT event_no, after_wait_no FROM resumptions WHERE ${key} ORDER BY event_no LIMIT 1`);
    this.#note = db.prepare(`UPDATE resumptions SET after_wait_no = ? WHERE ${key} AND event_no = ?`);
    this.#remove = db.prepare(`DELETE FROM resumptions WHERE ${key} AND event_no = ?`);
    this.#list = db.prepare(`
      SELECT environment_id, event_name FROM resumptions
      UNION SELECT environment_id, event_name FROM waits INDEXED BY waits_looking_back WHERE look_at IS NOT NULL LIMIT ?`);
  }

  isPending({ environmentId, eventName }: ResumptionKey): boolean {
    return this.#pending.get(environmentId, eventName) !== undefined;
  }

  isWaitPending(runNo: RunNo, stepId: StepId): boolean {
    return this.#pendingWait.get(runNo, stepId) !== undefined;
  }

  /** The event ends its waits in further transactions. */
  add({ environmentId, eventName }: ResumptionKey, sequence: number): void {
    this.#add.run(environmentId, eventName, sequence);
    this.announce();
  }

  /** The oldest event of the name that has not ended all of its waits. */
  next({ environmentId, eventName }: ResumptionKey): Resumption | null {
    const row = this.#next.get(environmentId, eventName);
    return row ? { eventSequence: row.event_no as number, after: row.after_wait_no as number } : null;
  }

  /** `after` null: it has ended all of them. */
  note({ environmentId, eventName }: ResumptionKey, sequence: number, after: number | null): void {
    const key = [environmentId, eventName, sequence];
    if (after === null) this.#remove.run(...key);
    else this.#note.run(after, ...key);
  }

  list(limit: number): ResumptionKey[] {
    return this.#list.all(limit).map(({ environment_id, event_name }) => ({
      environmentId: environment_id as EnvironmentId,
      eventName: event_name as string,
    }));
  }

  /** Listeners are notified before the transaction ends: their own store operations run after it. */
  announce(): void {
    for (const listener of this.#listeners) listener();
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
