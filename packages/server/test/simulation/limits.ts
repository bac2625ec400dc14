/**
 * Counts calls under way by concurrency limit, as the apps see them. Calls of a process that was killed do not count: nobody can call
 * them back. Calls of a run that has ended meanwhile do, until they end.
 */

import type { Journal } from "./journal.ts";
import type { CallNote, SpanNote } from "./journal-notes.ts";
import { fullId, type SimFunction, type SimLimit } from "./scenario.ts";
import { now } from "./virtual-time.ts";

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

  /** The limit now, if any of these changes is in force. While one is being made, the higher one counts. */
  #inForce(changes: readonly (SpanNote & { limit: number })[], usual: number): number {
    const at = now();
    const { tellingMs } = this.#journal;
    const isSet = ({ setAt, endAskedAt }: SpanNote) => setAt + tellingMs < at && at < endAskedAt;
    const isChanging = ({ askedAt, endedAt }: SpanNote) => askedAt <= at && at <= endedAt + tellingMs;
    const set = changes.find(isSet);
    return set?.limit ?? Math.max(usual, ...changes.filter(isChanging).map(({ limit }) => limit));
  }

  #ofEnded(limit: string): string {
    const ended = [...this.#heldBy].some(([{ runId }, ids]) => ids.includes(limit) && this.#journal.endedRuns.has(runId));
    return ended ? " beside a call of a run that has ended" : "";
  }

  #limitsOf(functionId: string, key: number): { id: string; cap: number }[] {
    const { functionLimits, quotas } = this.#journal;
    const changes = functionLimits.filter((note) => note.functionId === functionId && note.rule === "concurrency");
    const registered = this.#rules.get(functionId) ?? [];
    const rules = changes.length > 0 && registered.length === 0 ? [{ limit: Number.POSITIVE_INFINITY }] : registered;
    const own = rules.map(({ limit, key: expression, scope = "fn" }, index) => {
      const value = expression?.startsWith("event.") ? key : "";
      return {
        id: scope === "fn" ? `fn ${functionId} ${index} ${value}` : `${scope} ${expression} ${value}`,
        cap: this.#inForce(changes, limit),
      };
    });
    const calls = quotas.filter(({ quota }) => quota === "callsAtOnce");
    const isAbroad = functionId.startsWith(ABROAD);
    if (calls.length > 0 && !isAbroad) own.push({ id: "quota", cap: this.#inForce(calls, Number.POSITIVE_INFINITY) });
    // The same limit named twice is one limit.
    const distinct = own.filter(({ id }, index) => own.findIndex((other) => other.id === id) === index);
    return [...distinct, { id: `${APP}${functionId.split("-")[0]}`, cap: this.#callsPerApp }];
  }
}

/** Of the branch environment, which has no quotas. */
const ABROAD = "mirror-";

function stepLimits({ flow: { concurrency } }: SimFunction): SimLimit[] {
  if (!concurrency) return [];
  if (Array.isArray(concurrency)) return concurrency;
  return "fn" in concurrency ? (concurrency.step ?? []) : [concurrency];
}
