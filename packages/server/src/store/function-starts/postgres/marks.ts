/** The state of rules about starts: locked, read, changed in memory by one start after the other, and written together. */

import type { EntryNo, FunctionNo, LeaseId, RunNo } from "@inlet/protocol";
import type { FunctionStartParams, MarkKey } from "../../contract/index.ts";
import { boundedKey } from "../../postgres/bounded-key.ts";
import { insertInto, jsonRows } from "../../postgres/json-rows.ts";
import { LockSet, markLock } from "../../postgres/locks.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { unfinished } from "../../runs/postgres/run-state.ts";
import { heldMarkExpiresAt, runKeepingMark } from "../policy.ts";

const READ = `
  SELECT function_no, kind, key, value FROM marks
  WHERE environment_id = $1 AND (function_no, kind, key) IN (SELECT * FROM unnest($2::integer[], $3::text[], $4::text[]))`;
const WRITE = `
  ${insertInto("marks", {
    environment_id: "integer",
    function_no: "integer",
    kind: "text",
    key: "text",
    value: "text",
    expires_at: "bigint",
  })}
  ON CONFLICT (environment_id, function_no, kind, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`;
const REMOVE = `
  DELETE FROM marks USING unnest($2::integer[], $3::text[], $4::text[]) AS gone(function_no, kind, key)
  WHERE marks.environment_id = $1 AND marks.function_no = gone.function_no AND marks.kind = gone.kind AND marks.key = gone.key`;
const RUNS = "SELECT run_no, ended_at FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";
const LEASES = "SELECT entry_no, lease_id FROM queue WHERE environment_id = $1 AND entry_no = ANY ($2::bigint[])";

interface Mark {
  functionNo: FunctionNo;
  kind: MarkKey["kind"];
  /** As stored. */
  key: string;
  value: string | null;
  expiresAt: number;
}

/** The marks that the units of a group share, as the previous units left them, with the other inputs of their decisions. */
export class Marks {
  readonly #marks = new Map<string, Mark>();
  readonly #changed = new Set<Mark>();
  readonly #held: ReadonlyMap<EntryNo, LeaseId | null>;
  readonly #active = new Set<RunNo>();

  private constructor(held: ReadonlyMap<EntryNo, LeaseId | null>) {
    this.#held = held;
  }

  /** Until the transaction ends, no other transaction reads or writes the marks of these starts. */
  static lock(writes: PendingWrites, starts: readonly FunctionStartParams[]): void {
    const locks = new LockSet();
    for (const { functionNo, marks } of starts) {
      for (const { kind, key } of marks) {
        locks.add(markLock(writes.environmentId, functionNo, { kind, key: boundedKey(key) }), "alone");
      }
    }
    locks.send(writes);
  }

  /** The marks are locked, and so are the entries of the starts. */
  static async read(writes: PendingWrites, starts: readonly FunctionStartParams[]): Promise<Marks> {
    if (starts.length === 0) return new Marks(new Map());
    const numbers = starts.map(({ entry }) => entry.no);
    const leases = await writes.rows<{ entry_no: EntryNo; lease_id: LeaseId | null }>(LEASES, writes.environmentId, numbers);
    const marks = new Marks(new Map(leases.map(({ entry_no, lease_id }) => [entry_no, lease_id])));
    const keys = starts.flatMap(({ functionNo, marks: wanted }) => wanted.map((mark) => ({ ...mark, functionNo })));
    await marks.#read(writes, keys);
    return marks;
  }

  isHeld({ no, leaseId }: FunctionStartParams["entry"]): boolean {
    return this.#held.get(no) === leaseId;
  }

  isActive(runNo: RunNo): boolean {
    return this.#active.has(runNo);
  }

  get(functionNo: FunctionNo, mark: MarkKey): string | null {
    return this.#marks.get(markName(functionNo, mark))?.value ?? null;
  }

  set(functionNo: FunctionNo, mark: MarkKey, value: string | null, expiresAt: number): void {
    const changed = { functionNo, kind: mark.kind, key: boundedKey(mark.key), value, expiresAt };
    this.#marks.set(markName(functionNo, mark), changed);
    this.#changed.add(changed);
  }

  /** A singleton's mark is the number of the run started last; the decision depends on whether that run is active. */
  hold(functionNo: FunctionNo, mark: MarkKey, runNo: RunNo, now: number): void {
    this.set(functionNo, mark, String(runNo), heldMarkExpiresAt(now));
    this.#active.add(runNo);
  }

  write(writes: PendingWrites): void {
    const last = [...this.#marks.values()].filter((mark) => this.#changed.has(mark));
    const gone = last.filter(({ value }) => value === null);
    if (gone.length > 0) writes.send(REMOVE, writes.environmentId, ...columnsOf(gone));
    const rows = last
      .filter(({ value }) => value !== null)
      .map(({ functionNo, kind, key, value, expiresAt }) => ({
        environment_id: writes.environmentId,
        function_no: functionNo,
        kind,
        key,
        value,
        expires_at: expiresAt,
      }));
    if (rows.length > 0) writes.send(WRITE, jsonRows(rows));
  }

  async #read(writes: PendingWrites, keys: readonly (MarkKey & { functionNo: FunctionNo })[]): Promise<void> {
    const kept = keys.map((mark) => ({ ...mark, key: boundedKey(mark.key) }));
    if (kept.length === 0) return;
    const rows = await writes.rows<{ function_no: FunctionNo; kind: MarkKey["kind"]; key: string; value: string }>(
      ...([READ, writes.environmentId, ...columnsOf(kept)] as const),
    );
    for (const { function_no, kind, key, value } of rows) {
      this.#marks.set(JSON.stringify([function_no, kind, key]), { functionNo: function_no, kind, key, value, expiresAt: 0 });
    }
    const runNos = rows.map(runKeepingMark).filter((runNo) => runNo !== null);
    if (runNos.length === 0) return;
    const runs = await writes.rows<{ run_no: RunNo; ended_at: number | null }>(RUNS, writes.environmentId, runNos);
    for (const { run_no } of unfinished(runs)) this.#active.add(run_no);
  }
}

function markName(functionNo: FunctionNo, { kind, key }: MarkKey): string {
  return JSON.stringify([functionNo, kind, boundedKey(key)]);
}

function columnsOf(marks: readonly Pick<Mark, "functionNo" | "kind" | "key">[]): [number[], string[], string[]] {
  return [marks.map(({ functionNo }) => functionNo), marks.map(({ kind }) => kind), marks.map(({ key }) => key)];
}
