/**
 * Two sandboxes, for small requests and for large ones.
 *
 * Free memory in a sandbox's image is zeroed after each run, so it should be little; but a run that needs more makes memory grow, and the
 * instance has to be replaced. One size cannot suit both: 256 KiB keep a restore at 1 KB of body below 0.03 ms, and 2 MiB make a run at
 * 96 KB a quarter faster or more. The second sandbox is made when the first large request comes.
 */

import type { CheckOutcome, SandboxLimits, TransformFault, TransformOutcome } from "../transform-outcome.ts";
import { compileQuickJs } from "./quickjs.ts";
import { Sandbox, type SandboxRun, TOP_LEVEL_TOO_LARGE } from "./sandbox.ts";

const SMALL_RESERVE_BYTES = 256 * 1_024;
const LARGE_RESERVE_BYTES = 2 * 1_048_576;
/** Bodies up to about 25 KB fit into the small one when the transform makes no copies. */
const SMALL_BODY_UNITS_MAX = 16_384;

export class SizedSandboxes {
  readonly #limits: SandboxLimits;
  readonly #logMemory: SharedArrayBuffer;
  readonly #module: WebAssembly.Module;
  readonly #small: Sandbox;
  #large: Sandbox | null = null;
  #used: Sandbox;

  constructor(limits: SandboxLimits, logMemory: SharedArrayBuffer) {
    this.#limits = limits;
    this.#logMemory = logMemory;
    this.#module = compileQuickJs(limits.memoryBytes);
    this.#small = this.#sandbox(SMALL_RESERVE_BYTES);
    this.#used = this.#small;
  }

  /** CPU time of the last run. */
  get cpuMs(): number {
    return this.#used.cpuMs;
  }

  run(request: SandboxRun): TransformOutcome {
    const isSmall = request.raw.length + (request.evtJson?.length ?? 0) <= SMALL_BODY_UNITS_MAX;
    const outcome = isSmall ? this.#use(this.#small).run(request) : TOP_LEVEL_TOO_LARGE;
    if (outcome !== TOP_LEVEL_TOO_LARGE) return outcome;
    const second = this.#use(this.#largeOne()).run(request);
    return second === TOP_LEVEL_TOO_LARGE ? { ok: false, ...TOP_LEVEL_FAULT, logs: [], durationMs: 0 } : second;
  }

  check(source: string): CheckOutcome {
    const outcome = this.#use(this.#small).check(source);
    if (outcome !== TOP_LEVEL_TOO_LARGE) return outcome;
    const second = this.#use(this.#largeOne()).check(source);
    return second === TOP_LEVEL_TOO_LARGE ? { ok: false, ...TOP_LEVEL_FAULT } : second;
  }

  #use(sandbox: Sandbox): Sandbox {
    this.#used = sandbox;
    return sandbox;
  }

  #largeOne(): Sandbox {
    this.#large ??= this.#sandbox(LARGE_RESERVE_BYTES);
    return this.#large;
  }

  #sandbox(heapReserveBytes: number): Sandbox {
    return new Sandbox({ limits: this.#limits, logMemory: this.#logMemory, module: this.#module, heapReserveBytes });
  }
}

const TOP_LEVEL_FAULT: TransformFault = {
  code: "transform_memory",
  message: `the top level of the transform needs more than ${LARGE_RESERVE_BYTES} bytes; move the work into the function`,
};
