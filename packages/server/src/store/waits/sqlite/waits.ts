/** Events and signals that runs wait for: written, found by event or signal, and removed with their step or run. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, RunNo, StepId } from "@inlet/protocol";
import type { NewWait } from "../../contract/index.ts";
import { ANY_PATH, type FoundWait, type LookedBack, type LookRow, toLookingWait, toWait, WAIT_COLUMNS, type WaitRow } from "../rows.ts";

export class Waits {
  /** Usually nothing waits: then an event needs no lookup. */
  #mayExist = true;
  readonly #any;
  readonly #insert;
  readonly #nextPath;
  readonly #find;
  readonly #lookingBack;
  readonly #startLookBack;
  readonly #lookedBack;
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
      SELECT ${WAIT_COLUMNS} FROM waits
      WHERE environment_id = ? AND event_name = ? AND match_path = ? AND match_key = ? AND wait_no > ? ORDER BY wait_no LIMIT ?`);
    this.#lookingBack = db.prepare(`
      SELECT ${WAIT_COLUMNS}, look_at, look_no FROM waits INDEXED BY waits_looking_back
      WHERE environment_id = ? AND event_name = ? AND look_at IS NOT NULL ORDER BY look_at, look_no LIMIT ?`);
    this.#startLookBack = db.prepare("UPDATE waits SET look_at = since, look_no = 0 WHERE run_no = ? AND step_id = ? AND kind = 'event'");
    this.#lookedBack = db.prepare("UPDATE waits SET look_at = ?2, look_no = ?3 WHERE wait_no = ?1");
    this.#claimSignal = db.prepare(`
      INSERT INTO waits (environment_id, event_name, match_path, match_key, kind, run_no, step_id, since, expires_at)
      VALUES (?1, ?2, '${ANY_PATH}', '', 'signal', ?3, ?4, ?5, ?6)
      ON CONFLICT (environment_id, event_name) WHERE kind = 'signal' DO UPDATE SET
        run_no = ?3, step_id = ?4, since = ?5, expires_at = ?6 WHERE ?7 OR waits.expires_at <= ?8`);
    this.#findSignal = db.prepare(`
      SELECT run_no, step_id FROM waits WHERE environment_id = ? AND event_name = ? AND kind = 'signal' AND expires_at > ?`);
    this.#dropStep = db.prepare("DELETE FROM waits WHERE run_no = ? AND step_id = ?");
    this.#dropRun = db.prepare("DELETE FROM waits WHERE run_no = ?");
  }

  add(environmentId: EnvironmentId, runNo: RunNo, { eventName, match, kind, stepId, expression, since, expiresAt }: NewWait): void {
    this.#mayExist = true;
    const found = [environmentId, eventName, match ? match.path : ANY_PATH, match ? match.key : ""];
    this.#insert.run(...found, kind, runNo, stepId, expression, since, expiresAt);
  }

  /** False if another run waits for the signal and is not to be replaced. */
  claimSignal(environmentId: EnvironmentId, runNo: RunNo, wait: NewWait, now: number): boolean {
    this.#mayExist = true;
    const { eventName, stepId, since, expiresAt, onConflict } = wait;
    const row = [environmentId, eventName, runNo, stepId, since, expiresAt];
    return this.#claimSignal.run(...row, onConflict === "replace" ? 1 : 0, now).changes > 0;
  }

  /** The step that waits for the signal. */
  findSignal(environmentId: EnvironmentId, eventName: string, now: number): { runNo: RunNo; stepId: StepId } | null {
    const row = this.#findSignal.get(environmentId, eventName, now) as { run_no: RunNo; step_id: StepId } | undefined;
    return row ? { runNo: row.run_no, stepId: row.step_id } : null;
  }

  /** The first waits after a number for this event name whose key matches, and of those without a key. */
  candidates(
    { environmentId, eventName, keyAt }: { environmentId: EnvironmentId; eventName: string; keyAt(path: string): string | null },
    { after, limit }: { after: number; limit: number },
  ): FoundWait[] {
    if (!this.#mayExist) return [];
    this.#mayExist = this.#any.get() !== undefined;
    const name = eventName;
    const found: FoundWait[] = [];
    for (let path = this.#pathAfter(environmentId, name, ""); path !== null; path = this.#pathAfter(environmentId, name, path)) {
      const key = path === ANY_PATH ? "" : keyAt(path);
      if (key === null) continue;
      found.push(...(this.#find.all(environmentId, name, path, key, after, limit) as unknown as WaitRow[]).map(toWait));
    }
    return found.sort((one, other) => one.no - other.no).slice(0, limit);
  }

  /** The wait that has just been stored looks back in further transactions. */
  startLookBack(runNo: RunNo, stepId: StepId): void {
    this.#startLookBack.run(runNo, stepId);
  }

  /** Those that have come least far first. */
  lookingBack(environmentId: EnvironmentId, eventName: string, limit: number): (FoundWait & { looked: LookedBack })[] {
    const rows = this.#lookingBack.all(environmentId, eventName, limit) as unknown as (WaitRow & LookRow)[];
    return rows.map(toLookingWait);
  }

  /** Null: it has examined every event. */
  noteLookedBack({ no }: Pick<FoundWait, "no">, looked: LookedBack | null): void {
    this.#lookedBack.run(no, looked?.at ?? null, looked?.no ?? null);
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
