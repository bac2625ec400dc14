/**
 * Counts calls under way by concurrency limit, as the apps see them. Calls of a process that was killed do not count: nobody can call
 * them back. Calls of a run that has ended meanwhile do, until they end.
 */

import type { CallNote, Journal } from "./journal.ts";
import { fullId, type SimFunction, type SimLimit } from "./scenario.ts";

export const CALLS_PER_APP = 60;
const APP = "app ";

export class Limits {
  readonly #journal: Journal;
  readonly #rules: ReadonlyMap<string, readonly SimLimit[]>;
  readonly #callsPerApp: number;
  readonly #inUse = new Map<string, number>();
  readonly #heldBy = new Map<CallNote, readonly string[]>();

  /** Every node sends an app as many calls as it may. */
  constructor(functions: readonly SimFunction[], journal: Journal, nodes: number) {
    this.#journal = journal;
    this.#callsPerApp = CALLS_PER_APP * nodes;
    this.#rules = new Map(functions.map((fn) => [fullId(fn), stepLimits(fn)]));
  }

  begin(call: CallNote, key: number): void {
    const held = this.#limitsOf(call.functionId, key);
    this.#heldBy.set(
      call,
      held.map(({ id }) => id),
    );
    for (const { id, cap } of held) {
      const inUse = (this.#inUse.get(id) ?? 0) + 1;
      this.#inUse.set(id, inUse);
      if (inUse === cap && id.startsWith(APP)) this.#journal.fullApps.add(id.slice(APP.length));
      if (inUse > cap) this.#journal.fault(`limit exceeded${this.#ofEnded(id)}: ${inUse} calls under way where ${cap} may be (${id})`);
    }
  }

  end(call: CallNote): void {
    for (const id of this.#heldBy.get(call) ?? []) this.#inUse.set(id, (this.#inUse.get(id) ?? 1) - 1);
    this.#heldBy.delete(call);
  }

  #ofEnded(limit: string): string {
    const ended = [...this.#heldBy].some(([{ runId }, ids]) => ids.includes(limit) && this.#journal.endedRuns.has(runId));
    return ended ? " beside a call of a run that has ended" : "";
  }

  #limitsOf(functionId: string, key: number): { id: string; cap: number }[] {
    const own = (this.#rules.get(functionId) ?? []).map(({ limit, key: expression, scope = "fn" }, index) => {
      const value = expression?.startsWith("event.") ? key : "";
      return { id: scope === "fn" ? `fn ${functionId} ${index} ${value}` : `${scope} ${expression} ${value}`, cap: limit };
    });
    // The same limit named twice is one limit.
    const distinct = own.filter(({ id }, index) => own.findIndex((other) => other.id === id) === index);
    return [...distinct, { id: `${APP}${functionId.split("-")[0]}`, cap: this.#callsPerApp }];
  }
}

function stepLimits({ flow: { concurrency } }: SimFunction): SimLimit[] {
  if (!concurrency) return [];
  if (Array.isArray(concurrency)) return concurrency;
  return "fn" in concurrency ? (concurrency.step ?? []) : [concurrency];
}
