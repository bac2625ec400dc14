/** Random code of functions. */

import type { Random } from "./random.ts";
import { type Code, FETCH_ID } from "./scenario.ts";

const DEPTH_MAX = 3;
export const WAITED = ["w/a", "w/b"] as const;
/** One, so that runs meet over it. */
export const SIGNAL = "s/a";

export class CodeWriter {
  readonly #random: Random;
  /** Functions that may be started. */
  readonly #later: readonly string[];
  /** Nothing of its run reaches another, except those that it starts. */
  readonly #isApart: boolean;
  #ids = 0;

  constructor(random: Random, later: readonly string[], { isApart = false } = {}) {
    this.#random = random;
    this.#later = later;
    this.#isApart = isApart;
  }

  code(depth: number): Code {
    const deep = depth >= DEPTH_MAX ? 0 : 1;
    const kind = this.#random.weighted({
      run: 10,
      sleep: 2,
      wait: 2,
      invoke: this.#later.length > 0 ? 1.2 : 0,
      send: 1.5,
      signal: this.#isApart ? 0 : 1,
      tell: this.#isApart ? 0 : 1,
      ask: this.#isApart ? 0 : 1.5,
      fetch: 1.5,
      sequence: 1.5 * deep,
      all: 2 * deep,
      race: 1 * deep,
      loop: 0.7 * deep,
      try: 1.5 * deep,
    });
    switch (kind) {
      case "sequence":
        return { kind, parts: this.#parts(depth, 2, 3) };
      case "all":
        // Twenty at once is how functions are written that fan out.
        return { kind, parts: depth === 0 && this.#random.chance(0.06) ? this.#runs(20) : this.#parts(depth, 2, 4) };
      case "race":
        return { kind, parts: this.#parts(depth, 2, 3) };
      case "loop":
        return { kind, times: this.#random.int(2, 3), part: this.code(depth + 1) };
      case "try":
        return { kind, part: this.code(depth + 1), otherwise: this.code(depth + 1) };
      default:
        return this.#step(kind);
    }
  }

  #parts(depth: number, min: number, max: number): Code[] {
    return Array.from({ length: this.#random.int(min, max) }, () => this.code(depth + 1));
  }

  #runs(count: number): Code[] {
    return Array.from({ length: count }, () => ({ ...this.#run(), fails: 0 }));
  }

  #step(kind: "run" | "sleep" | "wait" | "invoke" | "send" | "signal" | "tell" | "ask" | "fetch"): Code {
    const random = this.#random;
    if (kind === "fetch") {
      const fails = random.chance(0.7) ? 0 : random.pick([1, 2, 99]);
      return { kind, id: FETCH_ID, fails, status: random.pick([200, 200, 404, 500]), tookMs: random.pick([0, 5, 50, 3_000]) };
    }
    // Some ids are used twice in a function, as in a loop.
    const id = this.#ids > 0 && random.chance(0.05) ? `${kind}${this.#ids - 1}` : `${kind}${this.#ids++}`;
    if (kind === "run") return { ...this.#run(), id };
    if (kind === "sleep") return { kind, id, ms: random.pick([1_000, 5_000, 60_000]) };
    if (kind === "send") return { kind, id, event: this.#sent() };
    if (kind === "tell") return { kind, id, signal: SIGNAL };
    if (kind === "ask") return { kind, id, timeoutMs: random.pick([2_000, 20_000, 300_000]) };
    if (kind === "signal") {
      const onConflict = random.pick(["fail", "replace"] as const);
      return { kind, id, signal: SIGNAL, onConflict, timeoutMs: random.pick([2_000, 20_000, 300_000]) };
    }
    if (kind === "invoke") {
      return { kind, id, fn: random.pick(this.#later), timeoutMs: random.chance(0.2) ? random.pick([2_000, 60_000]) : null };
    }
    const by = random.pick(["match", "if", "any"] as const);
    return { kind, id, event: random.pick(WAITED), by, timeoutMs: random.pick([2_000, 20_000, 300_000]) };
  }

  /** Mostly an event nobody waits for; now and then one that resumes a wait or starts a later function. */
  #sent(): string {
    if (this.#isApart) return "n/noted";
    if (this.#random.chance(0.3)) return this.#random.pick(WAITED);
    return this.#later.length > 0 && this.#random.chance(0.2) ? this.#random.pick(this.#later).replace("f", "t/") : "n/noted";
  }

  #run(): Extract<Code, { kind: "run" }> {
    const random = this.#random;
    const fails = random.chance(0.75) ? 0 : random.pick([1, 1, 2, 99]);
    const error = random.weighted({ plain: 6, final: 1, "retry-after": 1 });
    const tookMs = random.weighted({ none: 5, short: 4, long: 0.5 });
    const duration = tookMs === "none" ? 0 : tookMs === "short" ? random.int(1, 60) : random.pick([5_000, 25_000]);
    return { kind: "run", id: `run${this.#ids++}`, fails, error: fails === 0 ? "plain" : error, tookMs: duration };
  }
}
