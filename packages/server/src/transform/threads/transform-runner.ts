/**
 * Runs webhook transforms in sandbox threads. Threads are started on first use.
 *
 * Guarantees: every run ends in an outcome, within the limits; a version that loops or is slow delays others of its kind, not the
 * quick ones (see version-speeds.ts); waiting runs are scheduled fairly by environment and webhook (see waiting-work.ts) and bounded, and
 * beyond the bound the outcome is `overloaded`; a thread that is stuck or dies is replaced, and another runs the jobs it had not
 * begun.
 *
 * A quick thread stops a run as soon as it is slow. The run then starts over on the other thread, with its full time limit: a run is
 * isolated and leaves nothing behind, so this is invisible. A webhook that was quick until now therefore takes little of the quick
 * threads' time when it loops.
 */

import { availableParallelism } from "node:os";
import { BODY_BYTES_MAX_DEFAULT } from "@inlet/protocol";
import type {
  CheckOutcome,
  EntryName,
  SandboxLimits,
  TransformFault,
  TransformOutcome,
  TransformOwner,
  TransformRequest,
} from "../transform-outcome.ts";
import { type LossReason, SandboxThread } from "./sandbox-thread.ts";
import type { ThreadJob, ThreadResponse } from "./thread.ts";
import { type Speed, VersionSpeeds } from "./version-speeds.ts";
import { type Unanswered, WaitingWork, type Work } from "./waiting-work.ts";

export interface TransformRunnerOptions {
  limits?: Partial<SandboxLimits>;
  /** Threads for versions known to be quick. One more serves new and slow versions. */
  quickThreads?: number;
  /** Maximum number of waiting runs; far fewer for slow versions, since each takes its full time. */
  waitingMax?: number;
  waitingSlowMax?: number;
  slowMs?: number;
  /** A thread that spends this much CPU time on one run is stuck and is terminated. Null: far beyond the limit that the engine itself keeps to. */
  stuckMs?: number | null;
  /** Threads that are idle for this long are ended, except for one for quick versions. */
  idleMs?: number;
  now?: () => number;
}

export interface TransformRunner {
  start(): void;
  /** Waits for running jobs, ends waiting ones with `overloaded`, and ends the threads. Safe to call twice, or before start. */
  stop(): Promise<void>;
  run(request: TransformRequest): Promise<TransformOutcome>;
  /** Checks that the source parses and defines the function, without calling it. */
  check(source: string, entry?: EntryName): Promise<CheckOutcome>;
  /** For metrics. */
  readonly load: { running: number; waiting: number; threads: number };
}

export function createTransformRunner(options: TransformRunnerOptions = {}): TransformRunner {
  return new Runner({ ...DEFAULTS, ...options, limits: { ...LIMITS, ...options.limits } });
}

const LIMITS: SandboxLimits = {
  timeoutMs: 250,
  memoryBytes: 32 * 1_048_576,
  stackBytes: 256 * 1_024,
  resultBytesMax: BODY_BYTES_MAX_DEFAULT,
  logLinesMax: 100,
  logBytesMax: 16_384,
  versionsMax: 64,
};

const DEFAULTS = {
  quickThreads: Math.min(4, availableParallelism()),
  waitingMax: 1_000,
  waitingSlowMax: 32,
  slowMs: 50,
  stuckMs: null,
  // A thread takes memory, and starting one delays its first request.
  idleMs: 60_000,
  now: Date.now,
};

/** Jobs that a quick thread holds at once, so that it need not wait for the main thread between two. They cannot be taken back. */
const QUICK_JOBS_AT_ONCE = 8;
/** The engine may notice its own limit late. */
const NOTICED_LATE_FACTOR = 4;
const NOTICED_LATE_MS = 500;
/** The thread for new and slow versions gets about a tenth of a core when others compete for it. */
const SLOW_THREAD_NICENESS = 10;
/** A job is retried if its thread died before beginning it, up to this number of times. */
const ATTEMPTS_MAX = 3;

/** Callers of checks whether a source parses. */
const CHECK_OWNER: TransformOwner = { webhook: "check", environment: "check" };

const STOPPING: TransformFault = { code: "overloaded", message: "the service is stopping: try again in a moment" };

type RunnerOptions = Required<Omit<TransformRunnerOptions, "limits">> & { limits: SandboxLimits };

class Runner implements TransformRunner {
  readonly #options: RunnerOptions;
  readonly #speeds: VersionSpeeds;
  readonly #waiting: WaitingWork;
  readonly #quickThreads = new Set<SandboxThread>();
  #slowThread: SandboxThread | null = null;
  /** What the slow thread got last. */
  #lastTurn: Speed = "slow";
  /** Compiled by the first thread of the process, used by all. */
  static #module: WebAssembly.Module | null = null;
  #running = 0;
  #lastId = 0;
  #stopping: Promise<void> | null = null;
  #whenIdle: (() => void) | null = null;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#speeds = new VersionSpeeds(options.slowMs);
    this.#waiting = new WaitingWork(options);
  }

  start(): void {
    // Threads start with the first job: a server without webhooks needs none.
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  get load() {
    return {
      running: this.#running,
      waiting: this.#waiting.size,
      threads: this.#quickThreads.size + (this.#slowThread ? 1 : 0),
    };
  }

  run({
    versionKey,
    owner,
    source,
    entry,
    evtJson,
    headers,
    queryParams,
    raw,
    resultBytesMax,
  }: TransformRequest): Promise<TransformOutcome> {
    const run = {
      versionKey,
      source,
      entry,
      evtJson: evtJson === raw ? null : evtJson,
      headersJson: JSON.stringify(headers),
      queryParamsJson: JSON.stringify(queryParams),
      raw,
      resultBytesMax,
    };
    return new Promise((resolve) => {
      this.#accept({ run }, versionKey, owner ?? { webhook: versionKey, environment: versionKey }, (response) => {
        if ("code" in response) resolve({ ok: false, logs: [], durationMs: 0, ...response });
        else if ("outcome" in response) resolve(response.outcome);
      });
    });
  }

  check(source: string, entry: EntryName = "transform"): Promise<CheckOutcome> {
    return new Promise((resolve) => {
      this.#accept({ check: source, entry }, null, CHECK_OWNER, (response) => {
        if ("code" in response) {
          const { logs: _, ...fault } = response;
          resolve({ ok: false, ...fault });
        } else if ("checked" in response) resolve(response.checked);
      });
    });
  }

  #accept(task: Omit<ThreadJob, "id">, versionKey: string | null, owner: TransformOwner, settle: Work["settle"]): void {
    if (this.#stopping) settle(STOPPING);
    else {
      this.#lastId = (this.#lastId % 0x7fff_ffff) + 1;
      const job = { id: this.#lastId, ...task } as ThreadJob;
      this.#enqueue(this.#speedOf(versionKey), { job, versionKey, owner, attempts: 0, settle });
      this.#dispatch();
    }
  }

  #speedOf(versionKey: string | null): Speed {
    return versionKey === null ? "new" : this.#speeds.speedOf(versionKey);
  }

  /** Sends waiting work to threads with capacity. */
  #dispatch(): void {
    if (this.#waiting.has("new") || this.#waiting.has("slow")) {
      this.#slowThread ??= this.#addSlowThread();
      if (this.#slowThread.load === 0) this.#send(this.#slowThread, this.#takeInTurn());
    }
    while (this.#waiting.has("quick")) {
      const thread = this.#quickThread();
      if (!thread) break;
      this.#send(thread, this.#take("quick"));
    }
  }

  /** New and slow versions in turn, so that neither waits for all of the other. */
  #takeInTurn(): Work | undefined {
    // Work that was new when it was queued may be slow now.
    const turns = this.#lastTurn === "new" ? (["slow", "new", "slow"] as const) : (["new", "slow"] as const);
    for (const turn of turns) {
      const work = this.#take(turn);
      if (!work) continue;
      this.#lastTurn = turn;
      return work;
    }
    return undefined;
  }

  /** The next work of this speed. Work whose version has changed its speed while it waited goes where it belongs. */
  #take(speed: Speed): Work | undefined {
    for (;;) {
      const work = this.#waiting.take(speed);
      const now = work && this.#speedOf(work.versionKey);
      if (!work || now === speed) return work;
      this.#enqueue(now as Speed, work);
    }
  }

  #enqueue(speed: Speed, work: Work): void {
    const dropped = this.#waiting.add(speed, work);
    dropped?.settle({ code: "overloaded", message: "too many transforms are waiting: try again in a moment" });
  }

  /** The first quick thread with room, or a new one if allowed. */
  #quickThread(): SandboxThread | null {
    for (const thread of this.#quickThreads) if (thread.load < QUICK_JOBS_AT_ONCE) return thread;
    return this.#quickThreads.size < this.#options.quickThreads ? this.#addQuickThread() : null;
  }

  #addQuickThread(): SandboxThread {
    const { limits, slowMs } = this.#options;
    const thread = this.#spawn(
      { ...limits, timeoutMs: Math.min(limits.timeoutMs, slowMs) },
      0,
      () => this.#quickThreads.delete(thread),
      () => this.#quickThreads.size > 1,
    );
    this.#quickThreads.add(thread);
    return thread;
  }

  #addSlowThread(): SandboxThread {
    return this.#spawn(
      this.#options.limits,
      SLOW_THREAD_NICENESS,
      () => {
        this.#slowThread = null;
      },
      () => true,
    );
  }

  #send(thread: SandboxThread, work: Work | undefined): void {
    if (!work) return;
    this.#running++;
    thread.send(work);
  }

  #spawn(limits: SandboxLimits, niceness: number, forget: () => void, mayEnd: () => boolean): SandboxThread {
    const hardMs = this.#options.stuckMs ?? NOTICED_LATE_FACTOR * limits.timeoutMs + NOTICED_LATE_MS;
    const thread: SandboxThread = new SandboxThread({
      limits,
      niceness,
      module: Runner.#module,
      onModule: (module) => {
        Runner.#module = module;
      },
      idleMs: this.#options.idleMs,
      onIdle: () => {
        if (!mayEnd()) return;
        forget();
        void thread.stop();
      },
      hardMs,
      onResponse: (work, response) => {
        const isQuickThread = limits.timeoutMs < this.#options.limits.timeoutMs;
        if (isQuickThread && hasTimedOut(response)) this.#startOver(work, response.cpuMs);
        else this.#settle(work, response, response.cpuMs);
        // A version that has just proved quick will need one.
        if ("outcome" in response && this.#quickThreads.size === 0 && !this.#stopping) this.#addQuickThread();
      },
      onRoom: () => this.#dispatch(),
      onLost: ({ current, logs, untouched, reason }) => {
        forget();
        if (current) this.#settle(current, { ...this.#lossFault(reason), logs }, hardMs);
        for (const work of untouched) this.#retry(work);
        this.#dispatch();
      },
    });
    return thread;
  }

  #settle(work: Work, response: ThreadResponse | Unanswered, cpuMs: number): void {
    this.#record(work, cpuMs);
    work.settle(response);
    this.#endOne();
  }

  #record({ versionKey, owner }: Work, cpuMs: number): void {
    this.#waiting.charge(owner, cpuMs);
    if (versionKey !== null) this.#speeds.record(versionKey, cpuMs);
  }

  /** It was too slow for a quick thread. */
  #startOver(work: Work, cpuMs: number): void {
    this.#record(work, Math.max(cpuMs, this.#options.slowMs + 1));
    if (this.#stopping) work.settle(STOPPING);
    else this.#enqueue("slow", work);
    this.#endOne();
  }

  #retry(work: Work): void {
    work.attempts++;
    if (work.attempts < ATTEMPTS_MAX && !this.#stopping) this.#enqueue(this.#speedOf(work.versionKey), work);
    else work.settle({ code: "overloaded", message: "the code could not be run: try again in a moment" });
    this.#endOne();
  }

  /** One less is running, whatever became of it. */
  #endOne(): void {
    this.#running--;
    if (this.#running === 0) this.#whenIdle?.();
  }

  #lossFault(reason: LossReason): TransformFault {
    if (reason === "stuck")
      return { code: "transform_timeout", message: "the code used too much CPU time, and could not be interrupted (--transform-timeout)" };
    if (reason === "memory") return { code: "transform_memory", message: "the sandbox ran out of memory" };
    return { code: "transform_failed", message: "the sandbox ended unexpectedly" };
  }

  async #drain(): Promise<void> {
    for (const speed of ["quick", "new", "slow"] as const) {
      for (let work = this.#waiting.take(speed); work; work = this.#waiting.take(speed)) work.settle(STOPPING);
    }
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    const threads = [...this.#quickThreads, ...(this.#slowThread ? [this.#slowThread] : [])];
    await Promise.all(threads.map((thread) => thread.stop()));
    this.#quickThreads.clear();
    this.#slowThread = null;
  }
}

function hasTimedOut(response: ThreadResponse): boolean {
  return "outcome" in response && !response.outcome.ok && response.outcome.code === "transform_timeout";
}
