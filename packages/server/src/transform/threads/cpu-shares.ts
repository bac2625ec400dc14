/** Recent CPU time per key, with exponential decay: usage counts half after ten seconds, a quarter after twenty. */

const HALF_LIFE_MS = 10_000;
/** An unknown key has used nothing. */
const REMEMBERED_MAX = 5_000;

interface Use {
  ms: number;
  /** When it was last decayed. */
  at: number;
}

export class CpuShares {
  readonly #now: () => number;
  /** In the order of the last change. */
  readonly #uses = new Map<string, Use>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(who: string, cpuMs: number): void {
    const ms = this.used(who) + cpuMs;
    this.#uses.delete(who);
    this.#uses.set(who, { ms, at: this.#now() });
    const [oldest = ""] = this.#uses.keys();
    if (this.#uses.size > REMEMBERED_MAX) this.#uses.delete(oldest);
  }

  used(who: string): number {
    const use = this.#uses.get(who);
    return use ? use.ms * 0.5 ** ((this.#now() - use.at) / HALF_LIFE_MS) : 0;
  }
}
