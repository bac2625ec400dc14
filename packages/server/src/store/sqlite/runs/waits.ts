/** Events and signals that runs wait for: written, found by event or signal, and removed with their step or run. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, RunNo, StepId } from "@inlet/protocol";
import { type NewWait, type StoredWait, toStoreText } from "../../contract/index.ts";

interface WaitRow {
  wait_no: number;
  kind: NewWait["kind"];
  run_no: number;
  step_id: string | null;
  expression: string | null;
  since: number;
  expires_at: number;
}

export class Waits {
  /** Usually nothing waits: then an event needs no lookup. */
  #mayExist = true;
  readonly #any;
  readonly #insert;
  readonly #nextPath;
  readonly #find;
  readonly #claimSignal;
  readonly #findSignal;
  readonly #dropStep;
  readonly #dropRun;

  constructor(db: DatabaseSync) {
    this.#any = db.prepare("SELECT 1 FROM waits LIMIT 1");
    this.#insert = db.prepare(`
      INSERT INTO waits (environment_id, event_name, match_path, match_key, kind, run_no, step_id, expression, since, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#nextPath = db.prepare(`
      SELECT match_path FROM waits WHERE environment_id = ? AND event_name = ? AND match_path > ? ORDER BY match_path LIMIT 1`);
    this.#find = db.prepare(`
      SELECT wait_no, kind, run_no, step_id, expression, since, expires_at FROM waits
      WHERE environment_id = ? AND event_name = ? AND match_path = ? AND match_key = ? ORDER BY wait_no`);
    this.#claimSignal = db.prepare(`
      INSERT INTO waits (environment_id, event_name, match_path, match_key, kind, run_no, step_id, since, expires_at)
      VALUES (?1, ?2, '*', '', 'signal', ?3, ?4, ?5, ?6)
      ON CONFLICT (environment_id, event_name) WHERE kind = 'signal' DO UPDATE SET
        run_no = ?3, step_id = ?4, since = ?5, expires_at = ?6 WHERE ?7 OR waits.expires_at <= ?8`);
    this.#findSignal = db.prepare(`
      SELECT run_no, step_id FROM waits WHERE environment_id = ? AND event_name = ? AND kind = 'signal' AND expires_at > ?`);
    this.#dropStep = db.prepare("DELETE FROM waits WHERE run_no = ? AND step_id = ?");
    this.#dropRun = db.prepare("DELETE FROM waits WHERE run_no = ?");
  }

  add(environmentId: EnvironmentId, runNo: RunNo, { eventName, match, kind, stepId, expression, since, expiresAt }: NewWait): void {
    this.#mayExist = true;
    const found = [environmentId, toStoreText(eventName), match ? match.path : "*", match ? toStoreText(match.key) : ""];
    this.#insert.run(...found, kind, runNo, stepId, expression, since, expiresAt);
  }

  /** False if another run waits for the signal and is not to be replaced. */
  claimSignal(environmentId: EnvironmentId, runNo: RunNo, wait: NewWait, now: number): boolean {
    this.#mayExist = true;
    const { eventName, stepId, since, expiresAt, onConflict } = wait;
    const row = [environmentId, toStoreText(eventName), runNo, stepId, since, expiresAt];
    return this.#claimSignal.run(...row, onConflict === "replace" ? 1 : 0, now).changes > 0;
  }

  /** The step that waits for the signal. */
  findSignal(environmentId: EnvironmentId, eventName: string, now: number): { runNo: RunNo; stepId: StepId } | null {
    const row = this.#findSignal.get(environmentId, toStoreText(eventName), now) as { run_no: RunNo; step_id: StepId } | undefined;
    return row ? { runNo: row.run_no, stepId: row.step_id } : null;
  }

  /** Waits for this event name whose key matches, and those without a key. */
  candidates(environmentId: EnvironmentId, eventName: string, keyAt: (path: string) => string | null): StoredWait[] {
    if (!this.#mayExist) return [];
    this.#mayExist = this.#any.get() !== undefined;
    const name = toStoreText(eventName);
    const found: StoredWait[] = [];
    for (let path = this.#pathAfter(environmentId, name, ""); path !== null; path = this.#pathAfter(environmentId, name, path)) {
      const key = path === "*" ? "" : keyAt(path);
      if (key === null) continue;
      const rows = this.#find.all(environmentId, name, path, toStoreText(key)) as unknown as WaitRow[];
      for (const row of rows) found.push(toWait(row, eventName, path === "*" ? null : { path, key }));
    }
    return found;
  }

  /** After a rollback, waits may exist that the transaction did not see. */
  forget(): void {
    this.#mayExist = true;
  }

  dropStep(runNo: RunNo, stepId: StepId): void {
    if (this.#mayExist) this.#dropStep.run(runNo, stepId);
  }

  dropRun(runNo: RunNo): void {
    if (this.#mayExist) this.#dropRun.run(runNo);
  }

  #pathAfter(environmentId: EnvironmentId, name: string, path: string): string | null {
    return (this.#nextPath.get(environmentId, name, path)?.match_path as string | undefined) ?? null;
  }
}

function toWait(row: WaitRow, eventName: string, match: StoredWait["match"]): StoredWait {
  return {
    ...{ eventName, match, kind: row.kind, expression: row.expression, since: row.since, expiresAt: row.expires_at },
    ...{ runNo: row.run_no as RunNo, stepId: row.step_id as StepId | null },
  };
}
