/** Random scenarios. A function may only start functions that come after it, so that everything comes to an end. */

import { generateFlow } from "./generate-flow.ts";
import { Random } from "./random.ts";
import {
  type Code,
  FETCH_ID,
  type NetworkFaults,
  type Outage,
  QUIET_NETWORK,
  type Scenario,
  SDKS,
  type SimEvent,
  type SimFunction,
  type SimPause,
  type SimSignal,
} from "./scenario.ts";

const DEPTH_MAX = 3;
const WAITED = ["w/a", "w/b"] as const;
const CANCELLING = ["c/a", "c/b"] as const;
/** One, so that runs meet over it. */
const SIGNAL = "s/a";
const KEYS = 4;
const SPAN_MS = 60_000;

export interface GenerateOptions {
  /** Events that start functions. */
  starts: number;
  functions: number;
}

export function generateScenario(seed: number, { starts, functions: count }: GenerateOptions): Scenario {
  const random = new Random(seed, "scenario");
  const functions = Array.from({ length: count }, (_, index) => generateFunction(new Random(seed, "function", index), index, count));
  const isQuiet = random.chance(0.2);
  return {
    seed,
    functions,
    events: generateEvents(new Random(seed, "events"), functions, starts),
    signals: generateSignals(new Random(seed, "signals"), starts),
    pauses: generatePauses(new Random(seed, "pauses"), functions),
    outages: isQuiet ? [] : generateOutages(random),
    refusals: isQuiet || random.chance(0.6) ? [] : [{ atMs: random.int(1, SPAN_MS), forMs: random.int(10, 4_000) }],
    network: isQuiet ? { ...QUIET_NETWORK, latencyMs: random.int(0, 30) } : generateNetwork(random),
    jumble: random.pick([0, 0.2, 0.5, 0.8]),
    callTimeoutMs: 60_000,
  };
}

function generateNetwork(random: Random): NetworkFaults {
  const rate = () => (random.chance(0.5) ? 0 : random.pick([0.005, 0.02, 0.05]));
  return { lost: rate(), cut: rate(), hang: rate() / 2, twice: rate() / 2, latencyMs: random.pick([0, 2, 20, 200]) };
}

function generateOutages(random: Random): Outage[] {
  const outages = Array.from({ length: random.pick([0, 0, 1, 2]) }, () => ({
    atMs: random.int(10, SPAN_MS * 1.5),
    kind: random.pick(["kill", "stop"] as const),
    turns: random.int(0, 8),
    downMs: random.pick([1, 200, 3_000, 30_000]),
  }));
  return outages.sort((a, b) => a.atMs - b.atMs);
}

function generatePauses(random: Random, functions: readonly SimFunction[]): SimPause[] {
  return Array.from({ length: random.pick([0, 0, 1, 3]) }, () => ({
    atMs: random.int(1, SPAN_MS),
    fn: random.pick(functions).id,
    forMs: random.pick([5, 2_000, 20_000]),
  }));
}

function generateEvents(random: Random, functions: readonly SimFunction[], starts: number): SimEvent[] {
  const triggers = functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : []));
  const burst = random.chance(0.5);
  const at = () => (burst ? random.int(1, 5) * 4_000 + random.int(0, 20) : random.int(1, SPAN_MS));
  const names = Array.from({ length: starts }, () => random.pick(triggers));
  const others = Array.from({ length: Math.ceil(starts / 4) }, () => random.pick([...WAITED, ...WAITED, ...CANCELLING]));
  const events = [...names, ...others].map((name) => ({ atMs: at(), name, key: random.int(0, KEYS - 1) }));
  return events.sort((a, b) => a.atMs - b.atMs).map((event, n) => ({ ...event, n }));
}

function generateSignals(random: Random, starts: number): SimSignal[] {
  return Array.from({ length: Math.ceil(starts / 2) }, (_, n) => ({
    atMs: random.int(1, SPAN_MS * 1.5),
    signal: SIGNAL,
    key: random.int(0, KEYS - 1),
    n,
  }));
}

function generateFunction(random: Random, index: number, count: number): SimFunction {
  const sdk = random.pick(SDKS);
  const later = Array.from({ length: count - index - 1 }, (_, offset) => index + 1 + offset);
  const writer = new CodeWriter(random, later);
  const parts = Array.from({ length: random.int(1, random.pick([2, 3])) }, () => writer.code(0));
  if (random.chance(0.15)) parts.splice(random.int(0, parts.length), 0, { kind: "defer", id: "later", isDropped: random.chance(0.3) });
  if (random.chance(0.1)) parts.push({ kind: "throw", fails: random.pick([1, 2, 99]), final: random.chance(0.3) });
  const flow = random.chance(0.45) ? generateFlow(random) : {};
  return {
    id: `f${index}`,
    sdk,
    trigger: index > 0 && random.chance(0.15) ? null : { event: `t/${random.chance(0.8) ? index : 0}`, onlyOdd: random.chance(0.1) },
    retries: random.pick([0, 0, 1, 2, 3]),
    code: { kind: "sequence", parts },
    onFailure: random.chance(0.2),
    cancelOn:
      flow.batchEvents || random.chance(0.85)
        ? null
        : {
            event: random.pick(CANCELLING),
            by: random.pick(["match", "any"] as const),
            ...(random.chance(0.2) && { timeout: "10s" }),
          },
    flow,
  };
}

class CodeWriter {
  readonly #random: Random;
  /** Indexes of functions that may be started. */
  readonly #later: readonly number[];
  #ids = 0;

  constructor(random: Random, later: readonly number[]) {
    this.#random = random;
    this.#later = later;
  }

  code(depth: number): Code {
    const deep = depth >= DEPTH_MAX ? 0 : 1;
    const kind = this.#random.weighted({
      run: 10,
      sleep: 2,
      wait: 2,
      invoke: this.#later.length > 0 ? 1.2 : 0,
      send: 1.5,
      signal: 1,
      tell: 1,
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

  #step(kind: "run" | "sleep" | "wait" | "invoke" | "send" | "signal" | "tell" | "fetch"): Code {
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
    if (kind === "signal") {
      const onConflict = random.pick(["fail", "replace"] as const);
      return { kind, id, signal: SIGNAL, onConflict, timeoutMs: random.pick([2_000, 20_000, 300_000]) };
    }
    if (kind === "invoke") {
      return { kind, id, fn: `f${random.pick(this.#later)}`, timeoutMs: random.chance(0.2) ? random.pick([2_000, 60_000]) : null };
    }
    const by = random.pick(["match", "if", "any"] as const);
    return { kind, id, event: random.pick(WAITED), by, timeoutMs: random.pick([2_000, 20_000, 300_000]) };
  }

  /** Mostly an event nobody waits for; now and then one that resumes a wait or starts a later function. */
  #sent(): string {
    if (this.#random.chance(0.3)) return this.#random.pick(WAITED);
    return this.#later.length > 0 && this.#random.chance(0.2) ? `t/${this.#random.pick(this.#later)}` : "n/noted";
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
