/**
 * The main thread's side of one sandbox thread: sends it work, returns its results, and terminates it when it is stuck.
 *
 * Code in the sandbox is stopped by the engine itself, but some native work never reaches the interrupt check, such as joining an array
 * of four billion holes. The thread stores the id of its current job in shared memory; if it spends `hardMs` of its CPU time on one job,
 * it is terminated. Neither a busy main thread nor a machine that gives the thread little time terminates a healthy thread: shared memory
 * is read instead of measuring from the time of sending, and time in which the thread could not work does not count.
 */

import assert from "node:assert/strict";
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import { LogLines, logMemory } from "../sandbox/log-lines.ts";
import type { SandboxLimits } from "../transform-outcome.ts";
import type { ThreadData, ThreadMessage, ThreadResponse } from "./thread.ts";
import type { Work } from "./waiting-work.ts";

export interface SandboxThreadOptions {
  limits: SandboxLimits;
  niceness: number;
  /** CPU time. */
  hardMs: number;
  /** The compiled engine, if a thread has already compiled it; otherwise this one compiles and shares it. */
  module: WebAssembly.Module | null;
  onModule(module: WebAssembly.Module): void;
  onResponse(work: Work, response: ThreadResponse): void;
  /** Called after a result arrived: the thread can take more work. */
  onRoom(): void;
  /** It has been idle for `idleMs`. */
  idleMs: number;
  onIdle(): void;
  /** The thread has ended. `current` is the job it was running, with its log lines, `untouched` are the jobs it had not begun. */
  onLost(lost: { current: Work | null; logs: string[]; untouched: Work[]; reason: LossReason }): void;
}

export type LossReason = "stuck" | "memory" | "crashed";

/** The thread's own JavaScript needs little more than the texts of a few requests; user code lives in the engine's memory. */
const HEAP_MB_MAX = 128;

export class SandboxThread {
  readonly #options: SandboxThreadOptions;
  readonly #worker: Worker;
  readonly #current = new Int32Array(new SharedArrayBuffer(4));
  readonly #logMemory: SharedArrayBuffer;
  /** Jobs sent and not answered. The thread answers in order. */
  readonly #sent: Work[] = [];
  #watch: NodeJS.Timeout | null = null;
  /** The current job at the last check, and the thread's CPU time when it was first seen. */
  #seen = 0;
  #seenAtMs: number | null = null;
  #isAsking = false;
  #idleSince = 0;
  #reason: LossReason = "crashed";
  #lost = false;

  constructor(options: SandboxThreadOptions) {
    this.#options = options;
    const { limits, niceness, module } = options;
    this.#logMemory = logMemory(limits);
    const workerData: ThreadData = { limits, current: this.#current, logMemory: this.#logMemory, module, niceness };
    this.#worker = new Worker(new URL("./thread.ts", import.meta.url), {
      workerData,
      env: threadEnvironment(),
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    this.#worker.on("message", (message: ThreadMessage) => this.#receive(message));
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") this.#reason = "memory";
    });
    this.#worker.on("exit", () => this.#lose());
    // Last, because listening for messages keeps the process alive too.
    this.#worker.unref();
  }

  /** The number of jobs sent and not answered. */
  get load(): number {
    return this.#sent.length;
  }

  send(work: Work): void {
    // While a job runs, the process must stay alive to receive the result; an idle thread must not keep it alive.
    if (this.#sent.length === 0) this.#worker.ref();
    this.#sent.push(work);
    this.#worker.postMessage(work.job);
    this.#watch ??= setInterval(() => this.#checkDeadline(), this.#options.hardMs / 4).unref();
  }

  async stop(): Promise<void> {
    this.#lost = true;
    this.#endWatch();
    await this.#worker.terminate();
  }

  /** User code runs in the thread: a message that it cannot have sent ends the thread and the jobs it has, nothing else. */
  #receive(message: ThreadMessage): void {
    try {
      if ("module" in message) return this.#options.onModule(message.module);
      this.#settle(message);
      this.#options.onRoom();
    } catch {
      void this.#worker.terminate();
    }
  }

  #settle(response: ThreadResponse): void {
    // A thread that is being terminated may still have answered.
    if (this.#lost) return;
    const [work] = this.#sent;
    assert.equal(work?.job.id, response.id, "a sandbox thread answers its jobs in order");
    this.#sent.shift();
    if (this.#sent.length === 0) {
      this.#worker.unref();
      this.#idleSince = performance.now();
    }
    this.#options.onResponse(work, response);
  }

  /** Runs at intervals from the first job until the thread has been idle for long: a timer per job would cost more. */
  #checkDeadline(): void {
    const now = performance.now();
    const current = this.#sent.length === 0 ? 0 : Atomics.load(this.#current, 0);
    if (current !== this.#seen) {
      this.#seen = current;
      this.#seenAtMs = null;
    }
    if (current !== 0 && !this.#isAsking) void this.#checkUse(current);
    if (this.#sent.length === 0 && now - this.#idleSince >= this.#options.idleMs) {
      this.#endWatch();
      this.#options.onIdle();
    }
  }

  /** Terminates the thread if it has spent too much time on this job. */
  async #checkUse(job: number): Promise<void> {
    this.#isAsking = true;
    const ms = await threadCpuMs(this.#worker);
    this.#isAsking = false;
    if (ms === null || this.#lost || this.#seen !== job) return;
    this.#seenAtMs ??= ms;
    if (ms - this.#seenAtMs <= this.#options.hardMs || Atomics.load(this.#current, 0) !== job) return;
    this.#reason = "stuck";
    void this.#worker.terminate();
    this.#endWatch();
  }

  #lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#endWatch();
    const currentId = Atomics.load(this.#current, 0);
    const current = this.#sent.find(({ job }) => job.id === currentId) ?? null;
    const untouched = this.#sent.filter((work) => work !== current);
    const logs = new LogLines(this.#options.limits, this.#logMemory).take();
    this.#options.onLost({ current, logs, untouched, reason: this.#reason });
  }

  #endWatch(): void {
    if (this.#watch) clearInterval(this.#watch);
    this.#watch = null;
    this.#seen = 0;
  }
}

/**
 * Null if the thread has ended. The engine answers this in native work, too: it is asked in the way in which it is told to terminate.
 * Node 22 cannot read the CPU time of one thread; wall-clock time is used there.
 */
async function threadCpuMs(worker: Worker): Promise<number | null> {
  if (typeof worker.cpuUsage !== "function") return performance.now();
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    return null;
  }
}

/** None of the process's environment variables, except for the compile cache, which makes threads start faster. */
function threadEnvironment(): Record<string, string> {
  const cache = getCompileCacheDir();
  return cache ? { NODE_COMPILE_CACHE: cache } : {};
}
