/**
 * Slows down guessing: each address may fail ten times, and once more every six seconds. An address that has spent this is
 * refused whatever it brings, right or wrong, so guessing tells nothing; only credentials that worked from there before still do,
 * so that those who share an address with a guesser go on working.
 *
 * Bounded: what is remembered about addresses is forgotten oldest first.
 */

import { addressGroup } from "@inlet/protocol";
import { RestRefusal } from "./rest-errors.ts";

const FAILURES_MAX = 10;
const FORGIVEN_EVERY_MS = 6_000;
const REMEMBERED_MAX = 10_000;

interface Failures {
  count: number;
  /** When the count was last brought up to date. */
  at: number;
}

export class AttemptBudget {
  readonly #now: () => number;
  readonly #failures = new Map<string, Failures>();
  readonly #proven = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws when the address has failed too often. `proof` names the credential that was recognised, null when none was. */
  judge(ip: string, proof: string | null): void {
    const address = addressGroup(ip);
    const proven = `${address} ${proof}`;
    if (proof !== null && this.#proven.has(proven)) return;
    const failures = this.#current(address);
    if (failures.count >= FAILURES_MAX) throw tooMany(FORGIVEN_EVERY_MS - (this.#now() - failures.at));
    if (proof !== null) keep(this.#proven, () => this.#proven.add(proven));
    else keep(this.#failures, () => this.#failures.set(address, { ...failures, count: failures.count + 1 }));
  }

  #current(address: string): Failures {
    const now = this.#now();
    const { count, at } = this.#failures.get(address) ?? { count: 0, at: now };
    const forgiven = Math.floor((now - at) / FORGIVEN_EVERY_MS);
    return { count: Math.max(0, count - forgiven), at: forgiven >= count ? now : at + forgiven * FORGIVEN_EVERY_MS };
  }
}

function tooMany(waitMs: number): RestRefusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const message = `Too many attempts from this address have failed. Try again in ${seconds} seconds.`;
  return new RestRefusal("too_many_attempts", message, undefined, seconds);
}

function keep(memory: Map<string, unknown> | Set<string>, add: () => void): void {
  add();
  if (memory.size <= REMEMBERED_MAX) return;
  const [oldest = ""] = memory.keys();
  memory.delete(oldest);
}
