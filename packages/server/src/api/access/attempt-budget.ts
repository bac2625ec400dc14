/**
 * Slows down guessing: each address may fail a number of times, and once more every few seconds. An address that has spent this is
 * refused whatever it brings, right or wrong, so guessing tells nothing; only credentials that worked from there before still do,
 * so that those who share an address with a guesser go on working.
 *
 * That a credential worked while its address was failing is handed on to be kept, so that a restart does not lock it out.
 * Bounded: what is remembered about addresses is forgotten oldest first.
 */

import { addressGroup } from "@inlet/protocol";
import { RestRefusal } from "../rest-errors.ts";

export interface AttemptLimits {
  failuresMax: number;
  forgivenEveryMs: number;
}

/** Which credential worked from where. */
export interface Proof {
  address: string;
  /** Names the credential, and is none itself. */
  credential: string;
}

export interface AttemptBudgetOptions {
  now: () => number;
  limits?: AttemptLimits;
  /** Keeps a proof for the next start. */
  keep?: (proof: Proof) => void;
}

const LIMITS: AttemptLimits = { failuresMax: 10, forgivenEveryMs: 6_000 };
const REMEMBERED_MAX = 10_000;

interface Failures {
  count: number;
  /** When the count was last brought up to date. */
  at: number;
}

export class AttemptBudget {
  readonly #now: () => number;
  readonly #limits: AttemptLimits;
  readonly #keep: (proof: Proof) => void;
  readonly #failures = new Map<string, Failures>();
  readonly #proven = new Set<string>();
  /** Proofs that were handed on. */
  readonly #kept = new Set<string>();

  constructor({ now, limits = LIMITS, keep = () => undefined }: AttemptBudgetOptions) {
    this.#now = now;
    this.#limits = limits;
    this.#keep = keep;
  }

  /** What was kept before the last restart. */
  restore(proofs: readonly Proof[]): void {
    for (const { address, credential } of proofs) {
      remember(this.#proven, `${address} ${credential}`);
      remember(this.#kept, `${address} ${credential}`);
    }
  }

  /** Throws when the address has failed too often. `credential` names the one that was recognised, null when none was. */
  judge(ip: string, credential: string | null): void {
    const waitS = this.waitS(ip, credential);
    if (waitS === null) return;
    const message = `Too many attempts from this address have failed. Try again in ${waitS} seconds.`;
    throw new RestRefusal("too_many_attempts", message, undefined, waitS);
  }

  /** The same as a value: how many seconds the address has to wait, null when it has not. */
  waitS(ip: string, credential: string | null): number | null {
    const address = addressGroup(ip);
    if (credential !== null && this.#proven.has(`${address} ${credential}`)) {
      this.#keepIfFailing({ address, credential });
      return null;
    }
    const { count, at } = this.#current(address);
    const { failuresMax, forgivenEveryMs } = this.#limits;
    if (count >= failuresMax) return Math.max(1, Math.ceil((forgivenEveryMs - (this.#now() - at)) / 1_000));
    if (credential === null) {
      this.#failures.set(address, { count: count + 1, at });
      dropOldest(this.#failures);
    } else {
      remember(this.#proven, `${address} ${credential}`);
      this.#keepIfFailing({ address, credential });
    }
    return null;
  }

  #keepIfFailing(proof: Proof): void {
    const { address, credential } = proof;
    if (this.#failures.size === 0 || this.#kept.has(`${address} ${credential}`) || this.#current(address).count === 0) return;
    remember(this.#kept, `${address} ${credential}`);
    this.#keep(proof);
  }

  #current(address: string): Failures {
    const now = this.#now();
    const { forgivenEveryMs } = this.#limits;
    const { count, at } = this.#failures.get(address) ?? { count: 0, at: now };
    const forgiven = Math.floor((now - at) / forgivenEveryMs);
    return { count: Math.max(0, count - forgiven), at: forgiven >= count ? now : at + forgiven * forgivenEveryMs };
  }
}

function remember(memory: Set<string>, text: string): void {
  memory.add(text);
  dropOldest(memory);
}

function dropOldest(memory: Map<string, unknown> | Set<string>): void {
  if (memory.size <= REMEMBERED_MAX) return;
  const [oldest = ""] = memory.keys();
  memory.delete(oldest);
}
