/**
 * What the units of one group touch. All checks of a group are made before anything of it is written, so two of its units would
 * not see what the other does: those that have to do not share a group.
 */

import type { UnitDraft } from "./unit-draft.ts";

export class Touched {
  readonly #keys = new Set<string>();
  readonly #appended = new Set<string>();
  readonly #awaited = new Set<string>();

  /** True when the unit may be added to the group. */
  leaves(draft: UnitDraft): boolean {
    const met =
      keysOf(draft).some((key) => this.#keys.has(key)) ||
      [...draft.namesAppended].some((name) => this.#awaited.has(name)) ||
      [...draft.namesAwaited].some((name) => this.#appended.has(name));
    return !met;
  }

  add(draft: UnitDraft): void {
    for (const key of keysOf(draft)) this.#keys.add(key);
    for (const name of draft.namesAppended) this.#appended.add(name);
    for (const name of draft.namesAwaited) this.#awaited.add(name);
  }
}

/** Of two units with one of these in common, the second is decided on what the first has written. */
function keysOf({ rows, events }: UnitDraft): string[] {
  const keys: string[] = [];
  for (const { run_no } of rows.runsRead) keys.push(`run ${run_no}`);
  for (const { function_no, kind, key } of rows.marksRead) keys.push(`mark ${function_no} ${kind} ${key}`);
  for (const { environmentId, dedupKey } of events) if (dedupKey !== null) keys.push(`dedup ${environmentId} ${dedupKey}`);
  return keys;
}
