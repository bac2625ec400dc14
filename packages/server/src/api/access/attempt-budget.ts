/**
 * Slows down guessing: each address may fail a number of times, and regains one attempt every few seconds. An address without attempts is
 * refused whatever it sends, right or wrong, so guessing reveals nothing. Only credentials that were valid from there before are still
 * accepted, so that other users of the address can continue to work.
 *
 * Credentials that were valid from an address with failures are reported, to be stored, so that a restart does not lock them out.
 * Bounded: the oldest addresses are dropped first.
 */

import { addressGroup } from "@inlet/protocol";
import { RestRefusal } from "../rest-errors.ts";

export interface AttemptLimits {
  failuresMax: number;
  forgivenEveryMs: number;
}

/** Which credential was valid from which address. */
export interface Proof {
  address: string;
  /** Identifies the credential, and is not secret. */
  credential: string;
}

export interface AttemptBudgetOptions {
  now: () => number;
  limits?: AttemptLimits;
  /** Stores a proof for the next start. */
  keep?: (proof: Proof) => void;
}

const LIMITS: AttemptLimits = { failuresMax: 10, forgivenEveryMs: 6_000 };
const REMEMBERED_MAX = 10_000;

interface Failures {
  count: number;
  /** When the count was last updated. */
  at: number;
}

export class AttemptBudget {
  readonly #now: () => number;
  readonly #limits: AttemptLimits;
  readonly #keep: (proof: Proof) => void;
  readonly #failures = new Map<string, Failures>();
  readonly #proven = new Set<string>();
  /** Proofs that were reported. */
  readonly #kept = new Set<string>();

  constructor({ now, limits = LIMITS, keep = () => undefined }: AttemptBudgetOptions) {
    this.#now = now;
    this.#limits = limits;
    this.#keep = keep;
  }

  /** Proofs stored before the last restart. */
  restore(proofs: readonly Proof[]): void {
    for (const { address, credential } of proofs) {
      remember(this.#proven, `${address} ${credential}`);
      remember(this.#kept, `${address} ${credential}`);
    }
  }

  /** Throws if the address has failed too often. `credential` identifies the recognised one; null if there was none. */
  check(ip: string, credential: string | null): void {
    const waitS = this.waitS(ip, credential);
    if (waitS === null) return;
    const message = `Too many attempts from this address have failed. Try again in ${waitS} seconds.`;
    throw new RestRefusal("too_many_attempts", message, undefined, waitS);
  }

  /** The same as a value: how many seconds the address must wait; null if it need not. */
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
